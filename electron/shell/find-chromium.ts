import fs from 'node:fs';

const places: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  linux: [
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
    '/usr/bin/google-chrome-stable',
    '/snap/bin/chromium',
  ],
  darwin: [
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  ],
  win32: ['C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe'],
};

/** The system's Chromium or Chrome: `TOKENDESK_CHROMIUM` if set, else the usual places; null if there is none. */
export function findChromium(env: NodeJS.ProcessEnv): string | null {
  const named = env['TOKENDESK_CHROMIUM'];
  const candidates = named === undefined ? (places[process.platform] ?? []) : [named];
  return candidates.find((place) => fs.existsSync(place)) ?? null;
}
