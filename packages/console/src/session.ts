import { useSyncExternalStore } from 'react';

/** Of this tab, until it is closed: the key is in no cookie and in nothing that outlives the browser. */
const PLACE = 'waybill.key';
const listeners = new Set<() => void>();

/** The API key that was signed in with; null: nobody is signed in. */
export function currentKey(): string | null {
  return sessionStorage.getItem(PLACE);
}

export function signIn(key: string): void {
  sessionStorage.setItem(PLACE, key);
  tell();
}

export function signOut(): void {
  sessionStorage.removeItem(PLACE);
  tell();
}

function tell(): void {
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The key, and again whenever somebody signs in or out. */
export function useKey(): string | null {
  return useSyncExternalStore(subscribe, currentKey);
}
