import type { WaybillClient } from '@waybill/client';
import type { Command } from 'commander';
import { type Connection, type ConnectionOptions, connect, readConnection } from './connection.ts';
import type { Io } from './io.ts';
import { Output } from './output/output.ts';

/** Options that every command takes. */
export interface GlobalOptions extends ConnectionOptions {
  readonly json?: true;
}

/** What a command works with. */
export interface Context {
  readonly io: Io;
  readonly output: Output;
  readonly connection: Connection;
  /** Its calls end when the process is asked to. */
  readonly waybill: WaybillClient;
}

/** @throws ConfigurationError */
export function contextOf(command: Command, io: Io): Context {
  const options = command.optsWithGlobals<GlobalOptions>();
  const connection = readConnection(options, io.env);
  return {
    io,
    output: new Output(io, options.json === true),
    connection,
    waybill: connect(connection, io.stopping),
  };
}

/** Text below the help of a command: command lines that work as they are written. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`;
}
