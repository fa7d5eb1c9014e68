import { expect, test } from 'vitest';
import { EngineFault, engineFault, needing } from './engine-fault.ts';

test.each([
  ['kafka', 'Connection error: getaddrinfo ENOTFOUND nosuch', /KAFKA_BROKERS.*No such name/],
  ['kafka', 'Connection error: connect ECONNREFUSED 10.0.0.1:9092', /Nothing listens there/],
  [
    'kafka',
    'Client network socket disconnected before secure TLS connection was established',
    /KAFKA_SSL to false/,
  ],
  ['kafka', 'Request is not valid given the current SASL state', /KAFKA_SASL_MECHANISM/],
  ['kafka', 'SASL SCRAM SHA512 authentication failed', /KAFKA_SASL_PASSWORD/],
  ['kafka', 'Connection error: self-signed certificate in certificate chain', /KAFKA_CA_FILE/],
  [
    'kafka',
    'Connection error: SSL routines:ssl3_read_bytes:tlsv13 alert certificate required',
    /KAFKA_CERT_FILE/,
  ],
  ['kafka', 'Connection timeout', /firewall/],
  ['kafka', 'Not authorized to access topics: [Topic authorization failed]', /deploying\.md/],
  ['mongodb', 'not authorized on waybill to execute command', /deploying\.md/],
  ['mongodb', 'Authentication failed.', /authSource in MONGODB_URI/],
  ['mongodb', 'connection 1 to 10.0.0.1:27017 closed', /MONGODB_CERT_FILE/],
  ['mongodb', 'Server selection timed out after 5000 ms', /replicaSet in MONGODB_URI/],
  ['mongodb', "Hostname/IP does not match certificate's altnames: Host: a", /for another name/],
  ['registry', 'Error, status 404', /Has bootstrap run\?.*SCHEMA_REGISTRY_URL/],
  ['registry', 'Error, status 401', /SCHEMA_REGISTRY_PASSWORD/],
  ['registry', 'no answer within 10000 ms', /firewall/],
] as const)('%s that says %s is told with what to look at', (engine, said, advice) => {
  const { message } = engineFault(engine, 'address', new Error(said));
  expect(message).toContain(said.replace(/\.$/, ''));
  expect(message).toMatch(advice);
});

test('the words of OpenSSL are one line with the advice', () => {
  const { message } = engineFault('kafka', 'a:1', new Error('SSL alert number 42\n'));
  expect(message).toMatch(
    /^Kafka cannot be used \(KAFKA_BROKERS: a:1\): SSL alert number 42\. .*KAFKA_CERT_FILE/,
  );
});

test('what nobody knows is told as it was said, and credentials are not', async () => {
  const address = 'mongodb://user:p%40ss/word@a:27017,b:27017/waybill?tlsCertificateKeyFilePassword=hidden';
  const fault = needing('mongodb', address, () => Promise.reject(new Error('out of order')));
  await expect(fault).rejects.toBeInstanceOf(EngineFault);
  await expect(fault).rejects.toThrow(
    'MongoDB cannot be used (MONGODB_URI: mongodb://a:27017,b:27017/waybill): out of order',
  );
});
