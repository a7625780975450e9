import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { handleSignals } from '../../../electron/platform/signals.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * A process whose handlers behave as libuv's: set when a signal gets its first listener, and not again while it has one.
 * `quits` counts the signals that reached the handler that something else had set meanwhile, as Electron does.
 */
function libuvProcess() {
  const process = new EventEmitter();
  const inForce = new Map<string, 'listeners' | 'electron'>();
  const state = { quits: 0 };
  process.on('newListener', (signal: string) => {
    if (process.listenerCount(signal) === 0) inForce.set(signal, 'listeners');
  });
  return {
    process,
    state,
    becomeReady: () => signals.forEach((signal) => inForce.set(signal, 'electron')),
    raise: (signal: string): void => {
      if (inForce.get(signal) === 'listeners') process.emit(signal, signal);
      else state.quits += 1;
    },
  };
}

test.each(signals)('%s reaches the app although Electron took it and a library listened before', (signal) => {
  const { process, state, becomeReady, raise } = libuvProcess();
  let raisedAgain = 0;
  process.once(signal, () => (raisedAgain += 1));
  becomeReady();
  raise(signal);
  // The control: before, it is Electron's.
  expect(state.quits).toBe(1);
  let forced = 0;
  handleSignals(process, () => (forced += 1));
  raise(signal);
  // Twice, as an impatient person does.
  raise(signal);
  expect({ forced, raisedAgain, quits: state.quits }).toEqual({ forced: 2, raisedAgain: 0, quits: 1 });
});

test.skipIf(process.platform === 'win32')(
  'of a real process: the app hears it once more, and the library does not end the process',
  async () => {
    const module = fileURLToPath(new URL('../../../electron/platform/signals.ts', import.meta.url));
    const script = `
      import { handleSignals } from ${JSON.stringify(module)};
      process.once('SIGTERM', () => process.kill(process.pid, 'SIGKILL'));
      let heard = 0;
      handleSignals(process, () => { console.log('heard'); if (++heard === 2) process.exit(7); });
      setInterval(() => {}, 1_000);
      console.log('ready');`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      if (text.includes('ready') || (text.includes('heard') && !printed.includes('heard\nheard')))
        child.kill('SIGTERM');
    });
    expect(await exited).toEqual([7, null]);
    expect(printed).toBe('ready\nheard\nheard\n');
  },
);
