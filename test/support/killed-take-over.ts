/**
 * A start of the app that takes over entries of before, and is killed after so many were stored under their new names:
 * `node test/support/killed-take-over.ts HOME COUNT`, with a keyring's environment.
 */
import { loadKeytar } from '../../electron/storage/keytar.ts';
import { openWholeApp } from './whole-app.ts';

const [home = '', count = '0'] = process.argv.slice(2);
let left = Number(count);
const keytar = await loadKeytar();
await openWholeApp({
  home,
  options: {
    loadKeytar: () =>
      Promise.resolve({
        getPassword: (service, account) => keytar.getPassword(service, account),
        deletePassword: (service, account) => keytar.deletePassword(service, account),
        async setPassword(service, account, secret) {
          await keytar.setPassword(service, account, secret);
          if (--left === 0) process.kill(process.pid, 'SIGKILL');
        },
      }),
  },
});
