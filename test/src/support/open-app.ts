import { openApi } from '../../../src/lib/api.ts';
import { AppStore } from '../../../src/lib/app-store.svelte.ts';
import { createFakeBridge, type FakeOptions } from './fake-bridge.ts';

/** The app's store on a fake bridge, loaded. */
export async function openApp(options: FakeOptions = {}) {
  const fake = createFakeBridge(options);
  const api = openApi(fake.bridge);
  const app = new AppStore(api);
  await app.load();
  return { fake, api, app };
}
