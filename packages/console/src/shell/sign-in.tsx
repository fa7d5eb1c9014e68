import { useQueryClient } from '@tanstack/react-query';
import { ApiError, answerOf, createWaybillClient } from '@waybill/client';
import { useState } from 'react';
import { Fault } from '../parts/notice.tsx';
import { Title } from '../parts/title.tsx';
import { callerQuery } from '../permissions.ts';
import { signIn } from '../session.ts';
import { Roles } from './roles.tsx';
import css from './shell.module.css';

/** Asks for an API key. Only one that the API knows signs in. */
export function SignIn() {
  const queryClient = useQueryClient();
  const [key, setKey] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);

  async function tryKey(): Promise<void> {
    setBusy(true);
    try {
      const client = createWaybillClient({ baseUrl: location.origin, apiKey: key.trim() });
      const caller = await answerOf(client.GET('/v1/caller'));
      // Nothing that another key was shown stays.
      queryClient.clear();
      queryClient.setQueryData(callerQuery.queryKey, caller);
      signIn(key.trim());
    } catch (failure) {
      setError(failure instanceof Error ? failure : new Error(String(failure)));
    } finally {
      setBusy(false);
    }
  }

  const unknown = error instanceof ApiError && error.status === 401;
  return (
    <main className={css.signIn}>
      <Title>Sign in to Waybill</Title>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void tryKey();
        }}
      >
        <label htmlFor="key">API key</label>
        <input
          id="key"
          type="password"
          autoComplete="off"
          required
          value={key}
          aria-describedby="key-help"
          onChange={(event) => setKey(event.target.value)}
        />
        <span id="key-help">
          One of <code>WAYBILL_API_KEYS</code>. It stays in this tab and is forgotten when the tab is closed.
        </span>
        <button type="submit" className="primary" disabled={busy || key.trim() === ''}>
          {busy ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
      {error &&
        (unknown ? <Fault error={new Error('This key is not known here.')} /> : <Fault error={error} />)}
      <details>
        <summary>What each role may do</summary>
        <Roles />
      </details>
    </main>
  );
}
