import { Time } from './time.tsx';

const INSTANT = /(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z)/;

/** A text in which instants stand as the API writes them: each is shown as times are everywhere. */
export function Prose({ text, precise = false }: { text: string; precise?: boolean }) {
  let at = 0;
  return text.split(INSTANT).map((part) => {
    const key = `${at} ${part}`;
    at += part.length;
    return INSTANT.test(part) ? <Time key={key} at={part} precise={precise} /> : part;
  });
}
