import { loadKeytar } from '../../electron/storage/keytar.ts';
import { fillHome, longHome } from './long-home.ts';

/** Fills the home of a closed app, whose keys are in the keyring of this process, with the jobs and the log of a year. */
const [home = ''] = process.argv.slice(2);
await fillHome(home, loadKeytar);
process.stdout.write(`${JSON.stringify(longHome)}\n`);
