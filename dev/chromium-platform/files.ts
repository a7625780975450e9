import fs from 'node:fs';
import path from 'node:path';
import type { CDPSession, Page } from 'playwright-core';
import { stashKey } from './messages.ts';
import type { FileKind } from '../../electron/platform/platform.ts';

export interface ChromiumFiles {
  choose(kind: FileKind): Promise<string | null>;
  dropped(reference: string): Promise<string | null>;
}

const accepted: Record<FileKind, string> = {
  table: '.csv,.tsv,.txt,.xlsx,.xlsm,text/csv,text/tab-separated-values,text/plain',
  profile: '.json,application/json',
  certificate: '.p12,.pfx,application/x-pkcs12',
  connections: '.json,application/json',
};

const chooser = (kind: FileKind): string => `new Promise((resolve) => {
  const input = document.createElement('input');
  input.type = 'file';
  input.accept = '${accepted[kind]}';
  input.hidden = true;
  const settle = (file) => { input.remove(); resolve(file); };
  input.addEventListener('change', () => settle(input.files[0] ?? null));
  input.addEventListener('cancel', () => settle(null));
  document.body.append(input);
  input.click();
})`;

/**
 * Files in the system's Chromium: the page holds a File, and the debugging protocol tells main the path behind it.
 * The page itself never learns one.
 */
export function chromiumFiles(page: Page): ChromiumFiles {
  let session: Promise<CDPSession> | undefined;

  /** Null as well when the page was reloaded or closed while it was asked. */
  const pathOf = (expression: string): Promise<string | null> => fileBehind(expression).catch(() => null);

  async function fileBehind(expression: string): Promise<string | null> {
    const protocol = await (session ??= page.context().newCDPSession(page));
    const { result } = await protocol.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      userGesture: true,
    });
    if (result.objectId === undefined || result.className !== 'File') return null;
    const { path: file } = await protocol.send('DOM.getFileInfo', { objectId: result.objectId });
    await protocol.send('Runtime.releaseObject', { objectId: result.objectId });
    return file === '' ? null : file;
  }

  return {
    choose: (kind) => pathOf(chooser(kind)),
    dropped: (reference) =>
      pathOf(`globalThis[Symbol.for(${JSON.stringify(stashKey)})](${JSON.stringify(reference)})`),
  };
}

/** A name in `folder`, made for this user alone if missing, that is not taken: `name.csv`, `name (2).csv`, … */
export function freeName(folder: string, name: string): string {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { name: stem, ext } = path.parse(path.basename(name));
  for (let n = 1; ; n++) {
    const file = path.join(folder, n === 1 ? `${stem}${ext}` : `${stem} (${n})${ext}`);
    if (!fs.existsSync(file)) return file;
  }
}
