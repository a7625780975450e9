import fs from 'node:fs';
import path from 'node:path';

/** Name of the settings file in a person's folder, without `.json`. */
export const settingsName = 'desk';

/** Versions up to 2 of the document were kept under the name that electron-store gives where it is told none. */
export const earlierSettings = { name: 'config', lastVersion: 2 };

/** Whether a person's folder has settings, also those that wait to be adopted. */
export function hasSettings(folder: string): boolean {
  return [settingsName, earlierSettings.name].some((name) =>
    fs.existsSync(path.join(folder, `${name}.json`)),
  );
}

/** What stands for the settings in a person's folder: the file, copies that were kept of it, and half-written ones. */
export const isSettingsFile = (name: string): boolean =>
  /^desk(\.(damaged|other)-\w+|\.version-\d+)?\.json/.test(name);
