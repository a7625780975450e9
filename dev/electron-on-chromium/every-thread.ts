import { registerHooks, syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';
import { installBoringSsl } from './boringssl.ts';
import pkg from '../../node_modules/electron/package.json' with { type: 'json' };

/*
 * Loaded before anything else, in main and in each of its threads: what Electron's Node has that Node has not, and the other
 * way round.
 */

// Named for what it is, wherever a version is shown.
Object.defineProperty(process.versions, 'electron', {
  value: `${pkg.version}-on-chromium`,
  enumerable: true,
});

registerHooks({
  resolve: (specifier, context, next) => next(specifier === 'original-fs' ? 'node:fs' : specifier, context),
});

installBoringSsl();

// A thread with options of its own would otherwise start without this file.
threads.Worker = new Proxy(threads.Worker, {
  construct(target, [file, options]: ConstructorParameters<typeof threads.Worker>, newTarget) {
    const execArgv = options?.execArgv && ['--require', import.meta.filename, ...options.execArgv];
    return Reflect.construct(
      target,
      [file, { ...options, ...(execArgv && { execArgv }) }],
      newTarget,
    ) as object;
  },
});
syncBuiltinESMExports();
