import fs from 'node:fs';
import path from 'node:path';
import type { BrowserWindow, Rectangle } from 'electron';
import { z } from 'zod';
import { writeFileAtomically } from '../storage/atomic-file.ts';
import type { ElectronModules } from './electron-modules.ts';

const minWidth = 900;
const minHeight = 600;
/** Each step is a fifth more: from a little over half to two and a half times. */
const minZoom = -3;
const maxZoom = 5;
const saveAfterMs = 500;

const length = z.int().min(0).max(100_000);
const stored = z.strictObject({
  x: z.int().min(-100_000).max(100_000).optional(),
  y: z.int().min(-100_000).max(100_000).optional(),
  width: length,
  height: length,
  maximized: z.boolean(),
  zoom: z.number().min(minZoom).max(maxZoom),
});
type WindowState = z.infer<typeof stored>;

/** What a window is made with: of its place only what is on a screen that is there now. */
export interface WindowPlace {
  readonly bounds: Partial<Rectangle> & Pick<Rectangle, 'width' | 'height'>;
  readonly maximized: boolean;
  readonly zoom: number;
}

const initial: WindowPlace = { bounds: { width: 1280, height: 800 }, maximized: false, zoom: 0 };
const fileOf = (home: string): string => path.join(home, 'window.json');

/** Where the window was; the beginning's size where nothing fit was stored. */
export function readWindowPlace(home: string, { screen }: Pick<ElectronModules, 'screen'>): WindowPlace {
  let state: WindowState;
  try {
    state = stored.parse(JSON.parse(fs.readFileSync(fileOf(home), 'utf8')));
  } catch {
    return initial;
  }
  const { maximized, zoom, x, y, ...bounds } = state;
  const areas = screen.getAllDisplays().map(({ workArea }) => workArea);
  const position = x === undefined || y === undefined ? null : { x, y };
  const area = areas.find(
    (candidate) => position !== null && isReachable({ ...position, ...bounds }, candidate),
  );
  const room = area ?? areas[0] ?? { width: initial.bounds.width, height: initial.bounds.height };
  const size = {
    width: Math.max(minWidth, Math.min(bounds.width, room.width)),
    height: Math.max(minHeight, Math.min(bounds.height, room.height)),
  };
  // Where its screen is gone the system chooses the place.
  return { bounds: area === undefined ? size : { ...position, ...size }, maximized, zoom };
}

/** Whether enough of its title bar is there to be taken hold of. */
function isReachable(bounds: Rectangle, area: Rectangle): boolean {
  const across = Math.min(bounds.x + bounds.width, area.x + area.width) - Math.max(bounds.x, area.x);
  return across >= 100 && bounds.y >= area.y - 10 && bounds.y <= area.y + area.height - 40;
}

interface RememberOptions {
  readonly home: string;
  readonly place: WindowPlace;
  /** Wayland tells no program where its window is, and lets none choose: only the size is stored. */
  readonly hasPosition: boolean;
}

/** Applies the zoom, follows Ctrl and the wheel, and stores place and zoom when they change and when it is closed. */
export function rememberWindow(
  window: BrowserWindow,
  { home, place: { zoom }, hasPosition }: RememberOptions,
): void {
  const { webContents } = window;
  let timer: NodeJS.Timeout | undefined;
  let zoomOfLoad = zoom;
  webContents.on('did-finish-load', () => {
    webContents.setZoomLevel(zoomOfLoad);
  });
  // The page is loaded again as it was left.
  webContents.on('render-process-gone', () => {
    zoomOfLoad = webContents.getZoomLevel();
  });
  webContents.on('zoom-changed', (_event, direction) => {
    const next = webContents.getZoomLevel() + (direction === 'in' ? 0.5 : -0.5);
    webContents.setZoomLevel(Math.max(minZoom, Math.min(maxZoom, next)));
    later();
  });

  function save(): void {
    clearTimeout(timer);
    if (window.isDestroyed() || window.isMinimized()) return;
    const level = Math.max(minZoom, Math.min(maxZoom, webContents.getZoomLevel()));
    const { x, y, ...size } = window.getNormalBounds();
    const bounds = hasPosition ? { x, y, ...size } : size;
    const state: WindowState = { ...bounds, maximized: window.isMaximized(), zoom: level };
    // A full disk costs the place of the window and nothing else.
    void writeFileAtomically(fileOf(home), JSON.stringify(state));
  }
  function later(): void {
    clearTimeout(timer);
    timer = setTimeout(save, saveAfterMs);
    timer.unref();
  }
  window.on('resize', later);
  window.on('move', later);
  window.on('close', save);
  window.on('closed', () => {
    clearTimeout(timer);
  });
}
