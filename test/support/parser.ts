import { readPkcs12 } from '../../electron/parsing/pkcs12.ts';
import { createParser, type Parser } from '../../electron/parsing/parser.ts';
import { systemClock } from '../../electron/util/clock.ts';

/** The product's, with its threads. */
export const testParser = createParser({
  worker: new URL('../../electron/parsing/worker.ts', import.meta.url),
  clock: systemClock,
});

/** Reads certificates as the thread does, without its start: for tests that store many. */
export const inlineParser: Pick<Parser, 'readPkcs12'> = {
  readPkcs12: (file, passphrase) => Promise.resolve(readPkcs12(file, passphrase)),
};
