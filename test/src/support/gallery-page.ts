import './no-compiling.ts';
import { createFakeBridge, type Fake } from './fake-bridge.ts';
import { scenes } from './scenes.ts';

declare global {
  interface Window {
    fake: Fake;
  }
}

const scene = new URL(location.href).searchParams.get('scene') ?? 'busy';
window.fake = createFakeBridge(scenes[scene] ?? {});
Object.defineProperty(window, 'tokendesk', { value: window.fake.bridge });
await import('../../../src/main.ts');
