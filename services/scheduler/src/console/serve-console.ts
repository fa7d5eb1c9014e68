import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { CONSOLE_PATHS } from '@waybill/shared/contracts/console-paths';
import express, { type Express, type RequestHandler } from 'express';

/** Where `pnpm console` puts what browsers load. */
export const CONSOLE_DIRECTORY = fileURLToPath(new URL('../../../../packages/console/dist', import.meta.url));

/** A year. */
const FOR_GOOD = 'public, max-age=31536000, immutable';
/** Stands in the built page where the nonce of each answer belongs. */
const NONCE_PLACE = '__WAYBILL_NONCE__';

const NOT_BUILT = `The console of Waybill is served here, and it is not built.

Build it with: npx -y pnpm@10 console
Then load this page again. Nothing else needs it: the API is described at /openapi.json.
`;

/**
 * Serves the console: its page at `/` and below its own paths, and the files that the page names. Needs no key, since it
 * holds nothing; the page asks for one and calls the API with it. Files are read at each request, so that a console that
 * is built later is served without a restart.
 */
export function serveConsole(app: Express, directory: string): void {
  const pages = ['/', ...CONSOLE_PATHS.flatMap((path) => [`/${path}`, `/${path}/{*rest}`])];
  app.get(pages, page(`${directory}/index.html`));
  // Their names change with their contents. Set here, since answers of the API are never kept.
  const setHeaders = (response: ServerResponse) => response.setHeader('Cache-Control', FOR_GOOD);
  const files = { index: false, redirect: false, cacheControl: false, setHeaders } as const;
  app.use('/console', express.static(`${directory}/console`, files));
}

function page(file: string): RequestHandler {
  return async (_request, response) => {
    const html = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    if (html === null) {
      response.status(503).type('text/plain').send(NOT_BUILT);
      return;
    }
    const nonce = randomBytes(16).toString('base64');
    response.set({
      'Content-Security-Policy': policy(nonce),
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    });
    response.type('text/html').send(html.replaceAll(NONCE_PLACE, nonce));
  };
}

/** Only what came from here runs, is shown and is called; the nonce lets components add style rules of their own. */
function policy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
