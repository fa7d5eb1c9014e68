import { ApiError } from '@waybill/client';
import { useEffect, useState } from 'react';
import { onFault as onCallFault, streaming } from '../waybill.ts';

export interface Snapshot {
  readonly at: string;
  readonly since: string;
  readonly events: number;
  readonly closed: Readonly<Record<'delivered' | 'dead' | 'superseded' | 'cancelled', number>>;
  readonly owed: number;
  readonly oldestDueAt: string | null;
  readonly dead: number;
  readonly breakersOpen: number;
  readonly quarantined: number;
  readonly lag: number | null;
}

/** Snapshots that are kept: five minutes of them. */
const KEPT = 150;
/** Until a lost connection is tried again, in milliseconds. */
const AGAIN_MS = 2_000;
/** After so long without a snapshot the connection counts as lost, however open it looks, in milliseconds. */
const SILENT_MS = 10_000;

export interface Live {
  /** Oldest first. */
  readonly snapshots: readonly Snapshot[];
  /** Why nothing comes at the moment; null while it does. */
  readonly fault: Error | null;
}

/**
 * How things are, again every two seconds for as long as the page is open. By `fetch`: what browsers have for server-sent
 * events cannot send a key.
 */
export function useLive(): Live {
  const [live, setLive] = useState<Live>({ snapshots: [], fault: null });
  useEffect(() => {
    const stop = new AbortController();
    void watch(
      (snapshot) =>
        setLive(({ snapshots }) => ({ snapshots: [...snapshots, snapshot].slice(-KEPT), fault: null })),
      (fault) => setLive(({ snapshots }) => ({ snapshots, fault })),
      stop.signal,
    );
    return () => stop.abort();
  }, []);
  return live;
}

async function watch(
  onSnapshot: (snapshot: Snapshot) => void,
  onFault: (fault: Error) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await read(onSnapshot, signal);
      onFault(new Error('The scheduler ended the stream; trying again.'));
    } catch (error) {
      if (signal.aborted) return;
      onCallFault(error);
      if (error instanceof ApiError && !error.retryable) {
        onFault(error);
        return;
      }
      onFault(error instanceof ApiError ? error : new Error('Nothing comes from Waybill; trying again.'));
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

async function read(onSnapshot: (snapshot: Snapshot) => void, signal: AbortSignal): Promise<void> {
  const silent = new AbortController();
  const listen = () => setTimeout(() => silent.abort(new Error('nothing came')), SILENT_MS);
  let silence = listen();
  try {
    const { data } = await streaming.GET('/v1/live', {
      headers: { Accept: 'text/event-stream' },
      parseAs: 'stream',
      signal: AbortSignal.any([signal, silent.signal]),
    });
    if (!data) return;
    let text = '';
    for await (const part of chunksOf(data.pipeThrough(new TextDecoderStream()))) {
      clearTimeout(silence);
      silence = listen();
      const events = (text + part).split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) {
        if (event.startsWith('data: ')) onSnapshot(JSON.parse(event.slice('data: '.length)) as Snapshot);
      }
    }
  } finally {
    clearTimeout(silence);
  }
}

/** Not every browser lets a stream be iterated. */
async function* chunksOf(stream: ReadableStream<string>): AsyncGenerator<string> {
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    reader.releaseLock();
  }
}
