import { useId } from 'react';
import { textsIn } from '../search.ts';
import parts from './parts.module.css';

/** One condition of a filter, by its name in the address. */
export interface FilterField<Name extends string> {
  readonly name: Name;
  readonly label: string;
  /** What can be chosen, each with its words; without it the condition is typed. */
  readonly options?: readonly { readonly value: string; readonly words: string }[];
  /** An instant: chosen in the reader's zone, RFC 3339 in the address. */
  readonly instant?: boolean;
}

interface Props<Name extends string> {
  readonly fields: readonly FilterField<Name>[];
  /** What the address says. */
  readonly values: Partial<Record<Name, string>>;
  /** Given what was typed; what is empty is left out. */
  readonly onShow: (values: Partial<Record<Name, string>>) => void;
  readonly action?: string;
}

/** Conditions that stand in the address. They take effect when they are shown, not while they are typed. */
export function FilterForm<Name extends string>({ fields, values, onShow, action = 'Show' }: Props<Name>) {
  const form = useId();
  const names = fields.map(({ name }) => name);
  return (
    <form
      // What the address says, also after the back button.
      key={JSON.stringify(values)}
      className={parts.form}
      onSubmit={(event) => {
        event.preventDefault();
        const typed = textsIn(Object.fromEntries(new FormData(event.currentTarget)), names);
        for (const { name, instant } of fields) {
          const text = typed[name];
          if (instant && text !== undefined) typed[name] = new Date(text).toISOString();
        }
        onShow(typed);
      }}
    >
      {fields.map(({ name, label, options, instant = false }) => (
        <div key={name} className={parts.field}>
          <label htmlFor={`${form}-${name}`}>{label}</label>
          {options ? (
            <select id={`${form}-${name}`} name={name} defaultValue={values[name] ?? ''}>
              <option value="">any</option>
              {withPresent(options, values[name]).map(({ value, words }) => (
                <option key={value} value={value}>
                  {words}
                </option>
              ))}
            </select>
          ) : (
            <input
              id={`${form}-${name}`}
              name={name}
              autoComplete="off"
              {...(instant
                ? { type: 'datetime-local', step: 1, defaultValue: localText(values[name]) }
                : { type: 'text', defaultValue: values[name] ?? '' })}
            />
          )}
        </div>
      ))}
      <button type="submit">{action}</button>
      {Object.keys(values).length > 0 && (
        <button type="button" onClick={() => onShow({})}>
          Clear
        </button>
      )}
    </form>
  );
}

type Options = NonNullable<FilterField<string>['options']>;

/** What the address says can be chosen too: what there is may be known later, or not have it. */
function withPresent(options: Options, present: string | undefined): Options {
  if (present === undefined || options.some(({ value }) => value === present)) return options;
  return [...options, { value: present, words: present }];
}

/** As such an input takes it: in the reader's zone, without its name. What is no instant is left to the API to refuse. */
function localText(at: string | undefined): string {
  const date = new Date(at ?? '');
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
