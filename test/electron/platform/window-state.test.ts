import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import type { BrowserWindow, Display } from 'electron';
import { expect, test, vi } from 'vitest';
import { readWindowPlace, rememberWindow } from '../../../electron/platform/window-state.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/* Size, place and zoom of the window. */

const place = { x: 100, y: 50, width: 1400, height: 900, maximized: false, zoom: 1 };
const laptop = { x: 0, y: 0, width: 1920, height: 1040 };
const second = { x: 1920, y: 0, width: 2560, height: 1440 };
const atFirst = { bounds: { width: 1280, height: 800 }, maximized: false, zoom: 0 };

/** Where the window opens, with this in its file and these screens. */
function placeOf(stored: object | string | undefined, areas = [laptop]) {
  const home = tempFolder();
  const text = typeof stored === 'string' ? stored : JSON.stringify(stored);
  if (stored !== undefined) fs.writeFileSync(path.join(home, 'window.json'), text);
  const displays = areas.map((workArea) => ({ workArea })) as Display[];
  return readWindowPlace(home, { screen: { getAllDisplays: () => displays } as Electron.Screen });
}

/** A window, as far as it is remembered. */
function windowOf(home: string, { maximized = false, zoom = 0, hasPosition = true } = {}) {
  const state = { maximized, zoom, bounds: { x: 10, y: 20, width: 1000, height: 700 } };
  const webContents = Object.assign(new EventEmitter(), {
    getZoomLevel: () => state.zoom,
    setZoomLevel: (level: number) => (state.zoom = level),
  });
  const window = Object.assign(new EventEmitter(), {
    webContents,
    isMaximized: () => state.maximized,
    isMinimized: () => false,
    isDestroyed: () => false,
    getNormalBounds: () => state.bounds,
  });
  const place = { ...atFirst, maximized, zoom };
  rememberWindow(window as unknown as BrowserWindow, { home, place, hasPosition });
  return { state, window, webContents };
}

test('they are stored when it is closed, for the person alone, and used again', async () => {
  const home = tempFolder();
  const { window } = windowOf(home, { maximized: true, zoom: 2 });
  window.emit('close');
  const file = path.join(home, 'window.json');
  const stored = { x: 10, y: 20, width: 1000, height: 700, maximized: true, zoom: 2 };
  await vi.waitFor(() => expect(JSON.parse(fs.readFileSync(file, 'utf8'))).toEqual(stored));
  expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  const again = placeOf(fs.readFileSync(file, 'utf8'));
  expect(again).toEqual({
    bounds: { x: 10, y: 20, width: 1000, height: 700 },
    maximized: true,
    zoom: 2,
  });
  const { state, webContents } = windowOf(home, again);
  state.zoom = 0;
  webContents.emit('did-finish-load');
  expect(state.zoom).toBe(2);
});

test('under Wayland, which tells no place, the size is stored alone', async () => {
  const home = tempFolder();
  windowOf(home, { hasPosition: false }).window.emit('close');
  const file = path.join(home, 'window.json');
  const stored = { width: 1000, height: 700, maximized: false, zoom: 0 };
  await vi.waitFor(() => expect(JSON.parse(fs.readFileSync(file, 'utf8'))).toEqual(stored));
  expect(placeOf(stored).bounds).toEqual({ width: 1000, height: 700 });
});

test('the zoom is as it was when the page crashed', () => {
  const { state, webContents } = windowOf(tempFolder());
  state.zoom = 3;
  webContents.emit('render-process-gone', {}, { reason: 'crashed', exitCode: 1 });
  // Whatever Chromium makes of it meanwhile.
  state.zoom = 0;
  webContents.emit('did-finish-load');
  expect(state.zoom).toBe(3);
});

test.each([
  ['nothing', undefined],
  ['no JSON', '{"x":'],
  ['another shape', { ...place, width: '1400' }],
  ['a member too many', { ...place, theme: 'dark' }],
  ['a zoom nobody could read', { ...place, zoom: 40 }],
])('with %s stored it is as at the first start', (_, stored) => {
  expect(placeOf(stored)).toEqual(atFirst);
});

test('a place on a screen that is gone is left, and a size that no screen has is made to fit', () => {
  const stored = { ...place, x: 2500, width: 3000, height: 2000 };
  expect(placeOf(stored).bounds).toEqual({ width: 1920, height: 1040 });
  // With the second screen back, so is the place.
  expect(placeOf(stored, [laptop, second]).bounds).toMatchObject({ x: 2500, y: 50, width: 2560 });
});

test.each([
  ['only a corner shows', { x: 1900 }],
  ['its title bar is above the screen', { y: -300 }],
  ['its title bar is below the screen', { y: 1030 }],
])('a window of which %s is put back', (_, over) => {
  expect(placeOf({ ...place, ...over }).bounds.x).toBeUndefined();
});

test('Ctrl and the wheel change the zoom, within what can be read', () => {
  const { state, webContents } = windowOf(tempFolder());
  const turn = (direction: 'in' | 'out', times: number): number => {
    for (let n = 0; n < times; n++) webContents.emit('zoom-changed', {}, direction);
    return state.zoom;
  };
  expect(turn('in', 1)).toBe(0.5);
  expect(turn('in', 30)).toBe(5);
  expect(turn('out', 60)).toBe(-3);
});
