import { readPkcs12 } from '../../electron/parsing/pkcs12.ts';
import { createParser, type Parser } from '../../electron/parsing/parser.ts';
import { systemClock } from '../../electron/util/clock.ts';
import { parserWorker } from './workers.ts';

/** The product's, with its threads. */
export const testParser = createParser({
  worker: parserWorker,
  clock: systemClock,
});

/** Reads certificates as the thread does, without its start: for tests that store many. */
export const inlineParser: Pick<Parser, 'readPkcs12'> = {
  readPkcs12: (file, passphrase) => Promise.resolve(readPkcs12(file, passphrase)),
};
