const NOTICE = '<!-- Made from the code by `pnpm reference`; `pnpm check` sees whether it is fresh. -->';

/** A page that is made from the code: a title, a notice that says so, and its parts. */
export function page(title: string, ...parts: string[]): string {
  return `${[`# ${title}`, NOTICE, ...parts].join('\n\n')}\n`;
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
