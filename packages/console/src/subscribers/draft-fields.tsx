import parts from '../parts/parts.module.css';
import type { Draft, Faults } from './draft.ts';
import css from './draft-fields.module.css';

interface Props {
  readonly draft: Draft;
  readonly faults: Faults;
  readonly isNew: boolean;
  readonly onChange: (field: keyof Draft, value: string) => void;
}

/** Every field of a subscriber, each with its fault beside it. */
export function DraftFields({ isNew, ...rest }: Props) {
  return (
    <>
      <fieldset className={css.group}>
        <legend>Who and what</legend>
        {isNew && <Field {...rest} field="id" label="Id" help="Letters, digits, dashes, underscores" />}
        <Field {...rest} field="url" label="URL" wide />
        <Field {...rest} field="statuses" label="Only statuses" help="Separated by commas; empty: all" />
        <Area
          {...rest}
          field="attributes"
          label="Only attributes"
          help='JSON: {"region": ["north"]}; empty: all'
        />
      </fieldset>
      <fieldset className={css.group}>
        <legend>Attempts</legend>
        <Field {...rest} field="timeoutMs" label="Timeout (ms)" numeric />
        <Field {...rest} field="connectTimeoutMs" label="Connect timeout (ms)" numeric />
        <Field {...rest} field="maxAttempts" label="Attempts at most" numeric />
        <Field {...rest} field="maxElapsedMs" label="Give up after (ms)" numeric />
        <Field {...rest} field="concurrency" label="At once at most" numeric />
        <Field {...rest} field="ratePerSecond" label="Per second at most" help="Empty: no limit" numeric />
        <Area
          {...rest}
          field="backoff"
          label="Backoff"
          help='JSON: {"initialMs": 5000, "maxMs": 60000}; empty: the default'
        />
      </fieldset>
      <fieldset className={css.group}>
        <legend>Order and contents</legend>
        <Choice
          {...rest}
          field="ordering"
          label="Versions of a shipment"
          options={['none', 'latest', 'strict']}
        />
        <Choice {...rest} field="onDead" label="A dead version" options={['pass', 'block']} />
        <Choice {...rest} field="sequence" label="Number without gaps" options={['false', 'true']} />
        <Choice {...rest} field="payload" label="Payload" options={['full', 'id-only', 'empty']} />
        <Choice {...rest} field="keepResponse" label="Keep of answers" options={['off', 'hash', 'text']} />
        <Choice
          {...rest}
          field="conflictMeans"
          label="409 after an unknown attempt means"
          options={['retry', 'delivered']}
        />
        <Area {...rest} field="headers" label="Headers of its own" help="JSON; not for secrets" />
      </fieldset>
      <fieldset className={css.group}>
        <legend>Authentication</legend>
        <Area
          {...rest}
          field="auth"
          label="Auth"
          help='JSON. {"type": "signature"} keeps the present secret, or makes one. Secrets are never shown again.'
        />
      </fieldset>
    </>
  );
}

interface FieldProps extends Omit<Props, 'isNew'> {
  readonly field: keyof Draft;
  readonly label: string;
  readonly help?: string;
}

function Field({
  draft,
  faults,
  onChange,
  field,
  label,
  help,
  numeric = false,
  wide = false,
}: FieldProps & { numeric?: boolean; wide?: boolean }) {
  return (
    <div className={`${parts.field} ${wide ? css.wide : ''}`}>
      <label htmlFor={`s-${field}`}>{label}</label>
      <input
        id={`s-${field}`}
        value={draft[field]}
        inputMode={numeric ? 'decimal' : 'text'}
        aria-invalid={faults[field] !== undefined}
        aria-describedby={`s-${field}-note`}
        onChange={(event) => onChange(field, event.target.value)}
      />
      <Note field={field} fault={faults[field]} help={help} />
    </div>
  );
}

function Area({ draft, faults, onChange, field, label, help }: FieldProps) {
  return (
    <div className={`${parts.field} ${css.wide}`}>
      <label htmlFor={`s-${field}`}>{label}</label>
      <textarea
        id={`s-${field}`}
        className="mono"
        rows={Math.min(8, Math.max(1, draft[field].split('\n').length))}
        spellCheck={false}
        value={draft[field]}
        aria-invalid={faults[field] !== undefined}
        aria-describedby={`s-${field}-note`}
        onChange={(event) => onChange(field, event.target.value)}
      />
      <Note field={field} fault={faults[field]} help={help} />
    </div>
  );
}

function Choice({
  draft,
  faults,
  onChange,
  field,
  label,
  options,
  help,
}: FieldProps & { options: readonly string[] }) {
  return (
    <div className={parts.field}>
      <label htmlFor={`s-${field}`}>{label}</label>
      <select
        id={`s-${field}`}
        value={draft[field]}
        aria-describedby={`s-${field}-note`}
        onChange={(event) => onChange(field, event.target.value)}
      >
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
      <Note field={field} fault={faults[field]} help={help} />
    </div>
  );
}

function Note({
  field,
  fault,
  help,
}: {
  field: string;
  fault: string | undefined;
  help: string | undefined;
}) {
  return (
    <span id={`s-${field}-note`} className={fault === undefined ? parts.why : parts.fault}>
      {fault ?? help ?? ''}
    </span>
  );
}
