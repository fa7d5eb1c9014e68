/** What a delivery waits for, in words; see `docs/deliveries.md`. */
const WORDS: Readonly<Record<string, string>> = {
  subscriber_removed: 'its subscriber was removed; it will be cancelled',
  subscriber_disabled: 'its subscriber is disabled; enable it and it goes on',
  subscriber_quarantined: 'its subscriber is in quarantine; enable it and it goes on',
  earlier_version: 'an earlier version of the shipment goes first',
  newer_version: 'a newer version of the shipment goes first',
  subscriber_throttled: 'the subscriber asked to be left alone for a while',
  breaker_open: 'the subscriber keeps failing; it is left alone for a while',
  breaker_probe: 'one request is trying whether the subscriber answers again',
  next_attempt: 'the last attempt failed; it is tried again',
  concurrency: 'as many requests are under way as the subscriber’s terms allow',
  rate: 'as many requests were sent as the subscriber’s rate allows',
};

/** Why somebody got no delivery. */
const NOT_SENT: Readonly<Record<string, string>> = {
  filtered: 'its filter does not want this event',
  disabled: 'it was disabled when the event came',
};

export function waitWords(because: string): string {
  return WORDS[because] ?? because.replaceAll('_', ' ');
}

export function notSentWords(reason: string): string {
  return NOT_SENT[reason] ?? reason.replaceAll('_', ' ');
}

/** A code such as `attempts_exhausted` as it is read out. */
export function codeWords(code: string): string {
  return code.replaceAll('_', ' ');
}
