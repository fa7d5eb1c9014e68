/** What one check found. */
export interface Finding {
  /** What was looked at, such as `Kafka topics`. */
  readonly check: string;
  readonly state: 'ok' | 'fault' | 'skipped';
  readonly detail: string;
  /** What to do about it; null where nothing is. */
  readonly advice: string | null;
}

export const fine = (check: string, detail: string): Finding => ({
  check,
  state: 'ok',
  detail,
  advice: null,
});

export const fault = (check: string, detail: string, advice: string): Finding => ({
  check,
  state: 'fault',
  detail,
  advice,
});

export const skipped = (check: string, detail: string, advice: string | null = null): Finding => ({
  check,
  state: 'skipped',
  detail,
  advice,
});

/** Why something failed, in one line. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n')[0] ?? message;
}
