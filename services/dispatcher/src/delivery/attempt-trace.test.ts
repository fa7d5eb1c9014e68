import { expect, test } from 'vitest';
import { requestAttributes } from './attempt-trace.ts';

test('a request is described by its URL without what may be secret, and by its number', () => {
  const url = 'https://user:pass-word@clinic.example/hooks/path-secret?token=query-secret#fragment';
  const attributes = requestAttributes({ attemptCount: 3 }, url);
  expect(attributes).toEqual({
    'http.request.method': 'POST',
    'url.full': 'https://clinic.example',
    'server.address': 'clinic.example',
    'server.port': 443,
    'http.request.resend_count': 2,
  });
  expect(JSON.stringify(attributes)).not.toMatch(/user|pass-word|path-secret|query-secret|fragment/);
});

test('the first request is no resend, and a port that is named is told', () => {
  const attributes = requestAttributes({ attemptCount: 1 }, 'http://10.0.0.7:9000/');
  expect(attributes).toMatchObject({ 'server.port': 9000 });
  expect(attributes).not.toHaveProperty('http.request.resend_count');
});

test('a URL that cannot be read is not told', () => {
  expect(requestAttributes({ attemptCount: 1 }, 'not a url')).toEqual({ 'http.request.method': 'POST' });
});
