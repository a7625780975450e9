/*
 * The scripts of the app's threads: those of the build, which start three times as fast and are what ships, where
 * `scripts/test.ts` says that the build is of these sources; else the sources.
 */
const isBuilt = process.env['TOKENDESK_BUILT'] === '1';
const script = (built: string, source: string): URL =>
  new URL(isBuilt ? `../../dist/main/${built}` : `../../electron/${source}`, import.meta.url);

export const parserWorker = script('parser-worker.js', 'parsing/worker.ts');
export const builtInServiceWorker = script('built-in-service-worker.js', 'built-in-service/worker.ts');
