import fs from 'node:fs';
import path from 'node:path';

/**
 * One desk a home folder: two would write one audit log and one job. Electron has its own lock; this is for the
 * other host. Returns the function that gives the lock back, or null when a living process holds it.
 */
export function takeInstanceLock(home: string): (() => void) | null {
  const file = path.join(home, 'desk.lock');
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      fs.writeFileSync(file, String(process.pid), { flag: 'wx', mode: 0o600 });
      return () => {
        fs.rmSync(file, { force: true });
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (isAlive(Number(fs.readFileSync(file, 'utf8')))) return null;
    fs.rmSync(file, { force: true });
  }
  return null;
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
