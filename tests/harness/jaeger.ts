import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type StartedJaeger, startJaeger } from '@waybill/infra/engines/jaeger';

/** A span as Jaeger found it. */
export interface FoundSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly name: string;
  readonly service: string;
  readonly kind: string;
  readonly parentId: string | null;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly failed: boolean;
}

interface Reference {
  readonly refType: 'CHILD_OF' | 'FOLLOWS_FROM';
  readonly traceID: string;
  readonly spanID: string;
}

interface JaegerTrace {
  readonly spans: readonly {
    readonly traceID: string;
    readonly spanID: string;
    readonly operationName: string;
    readonly processID: string;
    readonly references: readonly Reference[];
    readonly tags: readonly { readonly key: string; readonly value: string | number | boolean }[];
  }[];
  readonly processes: Readonly<Record<string, { readonly serviceName: string }>>;
}

/** Building it takes minutes where that was not done before, in milliseconds. */
export const JAEGER_WITHIN_MS = 20 * 60_000;

/** Null where Jaeger cannot be had, and why is on stderr. */
export async function startTestJaeger(): Promise<Jaeger | null> {
  const directory = await mkdtemp(join(tmpdir(), 'jaeger-'));
  const started = await startJaeger('build', process.env, {
    directory,
    logFile: join(directory, 'log'),
    graceMs: 0,
    progress: (line) => process.stderr.write(`${line}\n`),
    starting: new AbortController().signal,
  });
  if (started !== null) return new Jaeger(started, directory);
  await rm(directory, { recursive: true });
  return null;
}

/** Asks Jaeger's API, as people do through its page. */
export class Jaeger implements AsyncDisposable {
  /** Where traces go. */
  readonly otlp: string;
  readonly #started: StartedJaeger;
  readonly #directory: string;

  constructor(started: StartedJaeger, directory: string) {
    this.otlp = started.otlp;
    this.#started = started;
    this.#directory = directory;
  }

  /** Where people look at them. */
  get url(): string {
    return this.#started.url;
  }

  /** For services whose traces it shall keep. */
  get environment(): Record<string, string> {
    return { OTEL_EXPORTER_OTLP_ENDPOINT: this.otlp, WAYBILL_JAEGER_URL: this.url };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#started.stop();
    await rm(this.#directory, { recursive: true });
  }

  /** The spans of all traces in which a service has a span with these attributes. */
  find(service: string, attributes: Readonly<Record<string, string>>, limit = 1_000): Promise<FoundSpan[]> {
    const tags = JSON.stringify(attributes);
    return this.#read(
      `/api/traces?${new URLSearchParams({ service, tags, limit: String(limit), lookback: '1h' })}`,
    );
  }

  trace(traceId: string): Promise<FoundSpan[]> {
    return this.#read(`/api/traces/${traceId}`);
  }

  async #read(path: string): Promise<FoundSpan[]> {
    const answer = await fetch(new URL(path, this.#started.url));
    if (answer.status === 404) return [];
    if (!answer.ok) throw new Error(`Jaeger answers ${answer.status}: ${await answer.text()}`);
    const { data } = (await answer.json()) as { data: JaegerTrace[] };
    return data.flatMap(spansOf);
  }
}

function spansOf({ spans, processes }: JaegerTrace): FoundSpan[] {
  return spans.map(({ traceID, spanID, operationName, processID, references, tags }) => {
    const attributes = Object.fromEntries(tags.map(({ key, value }) => [key, value]));
    const parent = references.find(
      (reference) => reference.refType === 'CHILD_OF' && reference.traceID === traceID,
    );
    const links = references.filter((reference) => reference !== parent);
    return {
      traceId: traceID,
      spanId: spanID,
      name: operationName,
      service: processes[processID]?.serviceName ?? '',
      kind: String(attributes['span.kind'] ?? 'internal'),
      parentId: parent?.spanID ?? null,
      links: links.map((link) => ({ traceId: link.traceID, spanId: link.spanID })),
      attributes,
      failed: attributes.error === true,
    };
  });
}
