/** A length of time as people say it: `132 ms`, `15 s`, `4 min 10 s`, `2 h 5 min`, `3 d 4 h`. */
export function durationWords(ms: number): string {
  if (ms < 0) return `-${durationWords(-ms)}`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${trimmed(ms / 1_000)} s`;
  const units = [
    { name: 'd', ms: 86_400_000 },
    { name: 'h', ms: 3_600_000 },
    { name: 'min', ms: 60_000 },
    { name: 's', ms: 1_000 },
  ];
  const first = units.findIndex((unit) => ms >= unit.ms);
  const [large, small] = units.slice(first, first + 2);
  if (!large || !small) return `${Math.round(ms)} ms`;
  // Rounded first, so that no part is ever as large as its unit.
  const whole = Math.round(ms / small.ms) * small.ms;
  const count = Math.floor(whole / large.ms);
  const rest = Math.round((whole - count * large.ms) / small.ms);
  return rest === 0 ? `${count} ${large.name}` : `${count} ${large.name} ${rest} ${small.name}`;
}

function trimmed(seconds: number): string {
  return seconds >= 10 ? String(Math.round(seconds)) : String(Math.round(seconds * 10) / 10);
}
