import css from './parts.module.css';

/** What may be wider than the screen. It can be scrolled by keyboard, so it takes the focus and has a name. */
export function Scroll({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it a keyboard cannot scroll it (WCAG 2.1.1)
    <section className={css.scroll} aria-label={name} tabIndex={0}>
      {children}
    </section>
  );
}
