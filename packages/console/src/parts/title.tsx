import { useEffect, useRef } from 'react';

/** The page's heading. A page that is gone to tells so: its title is the window's, and its heading gets the focus. */
export function Title({ children }: { children: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${children} – Waybill`;
    // A browser that comes back scrolls to where it was by itself.
    heading.current?.focus({ preventScroll: true });
  }, [children]);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
}
