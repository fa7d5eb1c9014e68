import { describe, expect, it } from 'vitest';
import { checkAddress, checkUrl, parseEgressPolicy } from './egress-policy.ts';

const PUBLIC_ONLY = parseEgressPolicy('');

describe('the allow list', () => {
  it.each([
    ['', 0],
    ['  ,', 0],
    ['receiver', 1],
    ['Hooks.Example.COM., 10.0.0.0/8', 2],
    ['127.0.0.1:9707,[::1]:8080,::1,[::1],fd00::/8,[fd00::/8]:443,10.0.0.0/8:8443,a_b.example:1', 8],
  ])('reads %j', (text, entries) => {
    expect(parseEgressPolicy(text).allowed).toHaveLength(entries);
  });

  it.each([
    'https://example.com',
    'example.com/path',
    'user@example.com',
    'example.com:',
    'example.com:0',
    'example.com:65536',
    'example.com:http',
    '*.example.com',
    'example..com',
    '127.1',
    '0x7f.0.0.1',
    '10.0.0.0/33',
    '::1/129',
    '[::1',
    '[example.com]',
    '[]:80',
    '-a.example',
  ])('refuses %j and names it', (entry) => {
    expect(() => parseEgressPolicy(`fine.example,${entry}`)).toThrow(`"${entry}"`);
  });

  it('names every bad entry at once', () => {
    expect(() => parseEgressPolicy('a b,fine.example,c d')).toThrow('"a b", "c d"');
  });
});

describe('a URL at configuration time', () => {
  /** Every way to write an address that must not be reached; the URL parser rewrites most of them. */
  it.each([
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[::1]',
    '[::]',
    '0.0.0.0',
    '127.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '①②⑦.0.0.1',
    '127.0.0.1.',
    'localhost.',
    '[64:ff9b::a9fe:a9fe]',
    '[2002:7f00:1::]',
    '169.254.169.254',
    '10.0.0.5',
    '[fd00:ec2::254]',
    'localhost',
    'LOCALHOST',
    'a.localhost',
    'ⓛocalhost',
    '0x7f000001',
    '017700000001',
    '127.0.1',
    '0',
    '127.0.0.1%2e',
    '%31%32%37.0.0.1',
    '127。0。0。1',
    '[0:0:0:0:0:ffff:7f00:0001]',
    '[::ffff:0:127.0.0.1]',
    '[64:ff9b:1::1]',
    '168.63.129.16',
  ])('refuses https://%s:9707/', (host) => {
    expect(checkUrl(`https://${host}:9707/hook`, PUBLIC_ONLY)).toEqual(expect.any(String));
  });

  it.each([
    'https://hooks.example.com/a?b=c',
    'https://8.8.8.8/',
    'https://8.8.8.8:8443/',
    'https://[2606:4700:4700::1111]/',
    'https://notlocalhost/',
    'https://localhost.example.com/',
  ])('accepts %s', (url) => {
    expect(checkUrl(url, PUBLIC_ONLY)).toBeNull();
  });

  it.each([
    ['http://hooks.example.com/', 'https'],
    ['http://8.8.8.8/', 'https'],
    ['ftp://example.com/', 'https'],
    ['file:///etc/passwd', 'https'],
    ['https://user:secret@example.com/', 'credentials'],
    ['https://user@example.com/', 'credentials'],
    ['https://example.com/#part', 'fragment'],
    ['https://example.com/#', 'fragment'],
    ['https://example.com:0/', 'port 0'],
    ['https://', 'valid URL'],
    ['example.com', 'valid URL'],
    ['https://256.0.0.1/', 'valid URL'],
  ])('refuses %s: %s', (url, why) => {
    expect(checkUrl(url, PUBLIC_ONLY)).toContain(why);
  });

  it('shows nothing of a URL that it refuses but the host', () => {
    const problem = checkUrl('https://10.0.0.5/path-secret?token=query-secret', PUBLIC_ONLY);
    expect(problem).toContain('10.0.0.5');
    expect(problem).not.toContain('secret');
  });

  it.each([
    ['receiver:8080', 'http://receiver:8080/', true],
    ['receiver:8080', 'http://receiver:8081/', false],
    ['receiver', 'http://receiver/', true],
    ['receiver', 'http://RECEIVER.:99/', true],
    ['receiver', 'http://receiver.example/', false],
    ['example.com', 'http://sub.example.com/', false],
    ['example.com:443', 'https://example.com/', true],
    ['example.com:80', 'http://example.com/', true],
    ['localhost', 'http://localhost:1234/', true],
    ['localhost', 'http://localhost.:1234/', true],
    ['127.0.0.1:9707', 'http://127.0.0.1:9707/', true],
    ['127.0.0.1:9707', 'https://127.1:9707/', true],
    ['127.0.0.1:9707', 'http://127.0.0.1:9708/', false],
    ['127.0.0.1:9707', 'http://127.0.0.2:9707/', false],
    ['127.0.0.0/8', 'http://127.9.9.9:1/', true],
    ['127.0.0.0/8', 'http://[::ffff:127.0.0.1]:1/', false],
    ['127.0.0.1', 'https://localhost/', false],
    ['[::1]:8080', 'http://[::1]:8080/', true],
    ['[::1]:8080', 'http://[::1]/', false],
    ['fd00::/8', 'http://[fd12:3456::1]/', true],
  ])('with %s on the list, %s is accepted: %s', (allow, url, accepted) => {
    expect(checkUrl(url, parseEgressPolicy(allow)) === null).toBe(accepted);
  });
});

describe('an address at connection time', () => {
  it.each([
    ['127.0.0.1', 'loopback'],
    ['127.255.255.255', 'loopback'],
    ['::1', 'loopback'],
    ['10.0.0.1', 'private'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['100.64.0.1', 'carrierGradeNat'],
    ['100.100.100.200', 'carrierGradeNat'],
    ['169.254.169.254', 'linkLocal'],
    ['fe80::1', 'linkLocal'],
    ['fe80::1%eth0', 'linkLocal'],
    ['fd00:ec2::254', 'uniqueLocal'],
    ['fc00::1', 'uniqueLocal'],
    ['168.63.129.16', 'metadata'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['ff02::1', 'multicast'],
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['::', 'unspecified'],
    ['255.255.255.255', 'broadcast'],
    ['240.0.0.1', 'reserved'],
    ['192.0.0.192', 'reserved'],
    ['192.0.2.1', 'reserved'],
    ['198.18.0.1', 'reserved'],
    ['198.51.100.1', 'reserved'],
    ['203.0.113.1', 'reserved'],
    ['192.88.99.1', 'reserved'],
    ['2001:db8::1', 'reserved'],
    ['3fff::1', 'reserved'],
    ['fec0::1', 'deprecatedSiteLocal'],
    ['100::1', 'discard'],
    ['::ffff:8.8.8.8', 'ipv4Mapped'],
    ['::8.8.8.8', 'ipv4Mapped'],
    ['::808:808', 'reserved'],
    ['::ffff:0:8.8.8.8', 'rfc6145'],
    ['64:ff9b::8.8.8.8', 'rfc6052'],
    ['64:ff9b:1::1', 'rfc6052'],
    ['2002:808:808::', '6to4'],
    ['2001:0:1::1', 'teredo'],
    ['4000::1', 'reserved'],
    ['1::1', 'reserved'],
    ['127.1', 'not an IP address'],
    ['', 'not an IP address'],
    ['example.com', 'not an IP address'],
  ])('refuses %s (%s)', (address, why) => {
    expect(checkAddress(address, 'hooks.example.com', 443, PUBLIC_ONLY)).toContain(why);
  });

  it.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '2a00:1450::1'])(
    'lets %s through',
    (address) => {
      expect(checkAddress(address, 'hooks.example.com', 443, PUBLIC_ONLY)).toBeNull();
    },
  );

  it.each([
    ['10.0.0.0/8', '10.1.2.3', 'hooks.example.com', 443, true],
    ['10.0.0.0/8:443', '10.1.2.3', 'hooks.example.com', 443, true],
    ['10.0.0.0/8:443', '10.1.2.3', 'hooks.example.com', 8443, false],
    ['10.0.0.0/8', '::ffff:10.1.2.3', 'hooks.example.com', 443, false],
    ['internal.example', '10.1.2.3', 'internal.example', 443, true],
    ['internal.example', '10.1.2.3', 'Internal.Example.', 443, true],
    ['internal.example:443', '10.1.2.3', 'internal.example', 80, false],
    ['internal.example', '10.1.2.3', 'other.example', 443, false],
  ])('with %s on the list, %s of %s port %d passes: %s', (allow, address, host, port, passes) => {
    expect(checkAddress(address, host, port, parseEgressPolicy(allow)) === null).toBe(passes);
  });
});
