/** Every fault of the environment at once; the process ends with status 78 (EX_CONFIG of sysexits). */
export class ConfigurationError extends Error {
  /** Each begins with the name of a variable. */
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(
      `The environment has ${faults.length} fault(s):\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
    );
    this.name = 'ConfigurationError';
    this.faults = faults;
  }
}
