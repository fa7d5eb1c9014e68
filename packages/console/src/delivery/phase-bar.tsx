import { durationWords } from '../words/duration.ts';
import css from './delivery.module.css';
import type { Phases } from './story.ts';

const PHASES = [
  { name: 'waiting', words: 'waiting', style: css.waiting },
  { name: 'connecting', words: 'connecting', style: css.connecting },
  { name: 'answering', words: 'waiting for the answer', style: css.answering },
  { name: 'untold', words: 'with a worker that has not told more', style: css.untold },
] as const;

/** Where time went, as one bar; the same in words below it. */
export function PhaseBar({ phases }: { phases: Phases }) {
  const known = PHASES.flatMap(({ name, words, style }) => {
    const ms = phases[name];
    return ms === null ? [] : [{ words, style, ms }];
  });
  return (
    <>
      <div className={css.phases} aria-hidden="true">
        {known.map(({ words, style, ms }) => (
          <span key={words} className={style} style={{ flexGrow: ms }} />
        ))}
      </div>
      <ul className={css.legend}>
        {known.map(({ words, style, ms }) => (
          <li key={words}>
            <span className={`${css.swatch} ${style}`} aria-hidden="true" />
            {words} {durationWords(ms)}
          </li>
        ))}
      </ul>
    </>
  );
}
