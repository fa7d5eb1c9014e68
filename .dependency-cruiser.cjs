/**
 * Layers of the code base: domain <- contracts <- kafka; contracts <- sealing <- stores; sealing <- sending; services
 * import shared, nothing imports a service.
 */
const shared = '^packages/shared/src';

module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      comment: 'A cycle means two files are one.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'domain-is-pure',
      comment: 'The domain knows no I/O and no other layer.',
      severity: 'error',
      from: { path: `${shared}/domain/`, pathNot: '\\.test\\.ts$' },
      to: { path: `${shared}/(contracts|sealing|sending|stores|kafka|telemetry|config|runtime|testing)/` },
    },
    {
      name: 'contracts-know-only-the-domain',
      severity: 'error',
      from: { path: `${shared}/contracts/`, pathNot: '\\.test\\.ts$' },
      to: { path: `${shared}/(sealing|sending|stores|kafka|telemetry|config|runtime|testing)/` },
    },
    {
      name: 'sealing-knows-no-store-and-no-network',
      comment: 'What opens secrets does nothing else with them.',
      severity: 'error',
      from: { path: `${shared}/sealing/`, pathNot: '\\.test\\.ts$' },
      to: { path: `${shared}/(sending|stores|kafka|telemetry|config|runtime)/` },
    },
    {
      name: 'sending-knows-no-store',
      severity: 'error',
      from: { path: `${shared}/sending/`, pathNot: '\\.test\\.ts$' },
      to: { path: `${shared}/(stores|kafka|telemetry|config|runtime)/` },
    },
    {
      name: 'undici-behind-sending',
      comment:
        'Every request to a subscriber goes through the egress guard; the registry is one of our engines.',
      severity: 'error',
      from: { path: '^(packages|services)/', pathNot: [`${shared}/(sending|kafka)/`, '\\.test\\.ts$'] },
      to: { path: 'node_modules/undici/' },
    },
    {
      name: 'client-runs-in-a-browser',
      comment: 'The console is bundled with it.',
      severity: 'error',
      from: { path: '^packages/client/', pathNot: '\\.test\\.ts$' },
      to: { pathNot: ['^packages/client/', `${shared}/domain/`, 'node_modules/openapi-fetch/'] },
    },
    {
      name: 'console-runs-in-a-browser',
      comment: 'It meets the services at the API, and shares with them what needs no Node.',
      severity: 'error',
      from: { path: '^packages/console/src/', pathNot: '\\.test\\.ts$' },
      to: {
        path: [`${shared}/`, '^(services|infra|tests|demo|bench)/'],
        pathNot: [
          `${shared}/domain/`,
          `${shared}/contracts/(console-paths|fault-words|subscriber-terms|retention-policy|retention-terms)\\.ts$`,
        ],
      },
    },
    {
      name: 'console-reaches-no-node-module',
      severity: 'error',
      from: { path: '^packages/console/src/', pathNot: '\\.test\\.ts$' },
      to: { reachable: true, path: '^(node:)?(crypto|fs|net|http|https|path|os|stream|child_process)$' },
    },
    {
      name: 'stores-know-no-transport',
      severity: 'error',
      from: { path: `${shared}/stores/`, pathNot: '\\.test\\.ts$' },
      to: { path: `${shared}/(sending|kafka|telemetry|config|runtime)/` },
    },
    {
      name: 'kafka-knows-no-store',
      severity: 'error',
      from: { path: `${shared}/kafka/`, pathNot: '\\.test\\.ts$' },
      to: { path: `${shared}/(stores|config|runtime)/` },
    },
    {
      name: 'mongodb-behind-stores',
      comment: 'Queries live in one place, beside the indexes that serve them.',
      severity: 'error',
      from: { pathNot: [`${shared}/stores/`, '/testing/', '\\.test\\.ts$', '^tests/', '^examples/'] },
      to: { path: 'node_modules/mongodb/' },
    },
    {
      name: 'kafkajs-behind-kafka',
      comment: 'The client is no longer released; a change of it must stay in one folder.',
      severity: 'error',
      from: { pathNot: [`${shared}/kafka/`, '/testing/', '\\.test\\.ts$', '^tests/'] },
      to: { path: 'node_modules/(kafkajs|@kafkajs)/' },
    },
    {
      name: 'nobody-imports-a-service',
      comment:
        'Services meet in Kafka and MongoDB only. The reference pages show what their configuration says, the launcher checks it; the model test drives their parts.',
      severity: 'error',
      from: { pathNot: ['^services/', '^infra/docs/', '^infra/stack/', '^tests/model/'] },
      to: { path: '^services/' },
    },
    {
      name: 'the-launcher-knows-only-what-services-are-configured-with',
      severity: 'error',
      from: { path: '^infra/stack/' },
      to: { path: '^services/', pathNot: '^services/[^/]+/src/config\\.ts$' },
    },
    {
      name: 'services-do-not-know-each-other',
      severity: 'error',
      from: { path: '^services/([^/]+)/' },
      to: { path: '^services/', pathNot: '^services/$1/' },
    },
    {
      name: 'examples-know-nothing-of-waybill',
      comment: 'They are other people’s systems: what they use is what the documentation says.',
      severity: 'error',
      from: { path: '^examples/' },
      to: { path: '^(packages|services|infra|demo|bench|tests)/' },
    },
    {
      name: 'no-test-code-in-production',
      severity: 'error',
      from: { path: '^(packages|services)/', pathNot: ['\\.test\\.ts$', '/testing/'] },
      to: { path: ['/src/testing/', '^tests/', '\\.test\\.ts$'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^packages/console/dist' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
