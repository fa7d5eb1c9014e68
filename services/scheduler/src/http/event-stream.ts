import type { Request, Response } from 'express';
import type { Route } from './route.ts';

export const EVENT_STREAM = 'text/event-stream';

/** Whether the caller would rather have a stream than one answer. */
export function wantsStream<Deps>({ stream }: Route<Deps>, request: Request): boolean {
  return stream !== undefined && request.accepts(['application/json', EVENT_STREAM]) === EVENT_STREAM;
}

/** Sends server-sent events until the caller goes or the route ends it. Who reads too slowly misses some. */
export function sendStream<Deps>({ stream }: Route<Deps>, response: Response, deps: Deps): void {
  // Nothing may be sent before the route has agreed: its refusal is a problem like any other.
  const waiting: string[] = [];
  let begun = false;
  const send = (answer: unknown): void => {
    const event = `data: ${JSON.stringify(answer)}\n\n`;
    if (!begun) waiting.push(event);
    else if (!response.writableNeedDrain) response.write(event);
  };
  const leave = stream?.(send, () => response.end(), deps);
  response.on('close', () => leave?.());
  response.status(200).set({ 'Content-Type': EVENT_STREAM, 'X-Accel-Buffering': 'no' });
  response.flushHeaders();
  begun = true;
  for (const event of waiting) response.write(event);
}
