/** What is done with each command block of the documents, by page and first line. */
export type How =
  /** Run as it stands; its output matches all of these. */
  | { readonly shows: readonly RegExp[] }
  /** Run as a part of the first look that the README gives. */
  | { readonly walk: true }
  /** The same is done by another test. */
  | { readonly elsewhere: string }
  /** Chooses tests, and this is one: only what it names is looked up. */
  | { readonly choosesTests: true }
  /** Cannot be run here. */
  | { readonly needs: string };

const COMMANDS = 'tests/e2e/commands.test.ts';
const PRODUCERS = 'tests/examples/producers.test.ts';
const RECEIVERS = 'tests/examples/receivers.test.ts';

export const BLOCKS: Readonly<Record<string, How>> = {
  'README.md: npx -y pnpm@10 demo --once': { elsewhere: COMMANDS },
  'README.md: WAYBILL_EGRESS_ALLOW=127.0.0.1:9000 npx -y pnpm@10 stack': { elsewhere: COMMANDS },
  "README.md: node -e 'require(": { walk: true },
  'README.md: curl -X PUT $API/v1/subscribers/clinic': { walk: true },
  'README.md: npx -y pnpm@10 test --project unit': { choosesTests: true },
  'docs/cli.md: export WAYBILL_URL': { elsewhere: 'tests/e2e/cli.test.ts' },
  'docs/deploying.md: for service in bootstrap scheduler': { elsewhere: 'tests/docker/compose.test.ts' },
  'docs/deploying.md: kubectl -n waybill create secret': { needs: 'a Kubernetes cluster' },
  'docs/deploying.md: cp -r infra/kubernetes/overlays/example': { needs: 'a Kubernetes cluster' },
  'docs/investigating.md: curl -s "$API/v1/shipments/SHP-4711"': {
    shows: [
      /"subscriberId":"clinic-basel","state":"delivered","attempts":3/,
      /"pharmacy-bern","reason":"filtered"/,
    ],
  },
  'docs/investigating.md: curl -s "$API/v1/deliveries?shipmentId=SHP-4711&subscriberId=clinic-basel" -H "Authorization: Bearer $KEY" |\n  jq \'':
    {
      shows: [
        /"outcome": "unknown",\s+"reason": "timeout"/,
        /"statusCode": 503/,
        /"outcome": "accepted"/,
        /"worker": "/,
      ],
    },
  'docs/investigating.md: curl -s "$API/v1/deliveries?shipmentId=SHP-4711&subscriberId=clinic-basel" -H "Authorization: Bearer $KEY" |\n  jq -r':
    {
      shows: [/^\S+\t-\tpending\trun:fan-out/, /\tin_flight\tdelivered\t/],
    },
  'docs/investigating.md: TRACE=': {
    shows: [/\tfan-out\t/, /\tattempt\tunknown/, /\tattempt\trejected/, /\tattempt\taccepted/],
  },
  'docs/investigating.md: curl -s -X POST': {
    shows: [/"dryRun":true,"deliveries":1}{"dryRun":false,"deliveries":1}/],
  },
  'docs/operating.md: kafka-consumer-groups.sh': {
    needs: 'Kafka’s own tools; tests/faults/restore.test.ts resets the same',
  },
  'docs/performance.md: npx -y pnpm@10 bench --help': {
    needs: 'minutes, and a machine that does nothing else',
  },
  'docs/retention.md: curl -X PUT $API/v1/retention/policies/month': {
    shows: [/"version":1/, /"mode":"observe"/],
  },
  'examples/producers/cloudevents/README.md: echo': { shows: [/^SHP-10 accepted$/m] },
  'examples/producers/curl/README.md: echo': { shows: [/"result":"accepted"/] },
  'examples/producers/java/README.md: cd examples/producers/java': { elsewhere: PRODUCERS },
  'examples/producers/node/README.md: node': { shows: [/^3 taken$/m] },
  'examples/producers/outbox-mongodb/README.md: node': { elsewhere: PRODUCERS },
  'examples/producers/outbox-postgresql/README.md: psql': { elsewhere: PRODUCERS },
  'examples/producers/python/README.md: python3 -m pip install': { shows: [] },
  'examples/receivers/node/README.md: INBOX=inbox.db node examples/receivers/node/receiver.ts\n': {
    elsewhere: RECEIVERS,
  },
  'examples/receivers/node/README.md: INBOX=inbox.db node examples/receivers/node/receiver.ts holes': {
    elsewhere: RECEIVERS,
  },
  'examples/receivers/python/README.md: python3 -m pip install': { elsewhere: RECEIVERS },
  'examples/receivers/python/README.md: INBOX=inbox.db python3': { elsewhere: RECEIVERS },
};
