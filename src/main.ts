import { mount } from 'svelte';
import './styles/base.css';
import App from './app/App.svelte';
import { openApi, type Api } from './lib/api.ts';

/** Without an answer it says that it starts. */
const drawnWithinMs = 150;

const target = document.getElementById('app');
if (target === null) throw new Error('index.html has no #app');

if (window.tokendesk === undefined)
  target.textContent = 'Tokendesk runs in its own window. Start it with npm start.';
else void start(target, openApi(window.tokendesk));

/** The state is asked for before this script is there, so that the window is drawn once: with it. */
async function start(target: HTMLElement, api: Api): Promise<void> {
  const late = new Promise<null>((resolve) => setTimeout(resolve, drawnWithinMs, null));
  const first = await Promise.race([api.call('app.state', {}), late]);
  mount(App, { target, props: { api, first: first?.ok === true ? first.value : null } });
}
