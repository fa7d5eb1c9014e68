import { ApiError, UnreachableError } from '@waybill/client';
import css from './parts.module.css';
import { Prose } from './prose.tsx';

/** What is being asked for, while it is not there. */
export function Loading({ what }: { what: string }) {
  return (
    <p className={css.empty} role="status">
      Loading {what}…
    </p>
  );
}

/** Says what is not there, and what would make it be. */
export function Empty({ children }: { children: React.ReactNode }) {
  return <p className={css.empty}>{children}</p>;
}

export function Notice({ tone, children }: { tone: 'good' | 'warn'; children: React.ReactNode }) {
  return (
    <div className={`${css.notice} ${css[tone]}`} role="status">
      {children}
    </div>
  );
}

/** An error of a call, with everything the API said about it. */
export function Fault({ error, again }: { error: Error; again?: (() => void) | undefined }) {
  return (
    <div className={`${css.notice} ${css.bad}`} role="alert">
      <p>
        <Prose text={headline(error)} />
      </p>
      {error instanceof ApiError && error.faults.length > 0 && (
        <ul>
          {error.faults.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
      {again && mayHelp(error) && (
        <p>
          <button type="button" onClick={again}>
            Try again
          </button>
        </p>
      )}
    </div>
  );
}

/** Whether asking again may: not where somebody would have to change something first. */
function mayHelp(error: Error): boolean {
  return !(error instanceof ApiError) || error.retryable;
}

function headline(error: Error): string {
  if (error instanceof UnreachableError)
    return 'Waybill does not answer. Is the scheduler running, and is there a way to it from here?';
  if (error instanceof ApiError && error.code === null)
    return `What answered is not Waybill, such as a proxy before it: ${error.status} ${error.title}`;
  if (error instanceof ApiError) return error.detail ? `${error.title}: ${error.detail}` : error.title;
  return error.message;
}
