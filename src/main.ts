import { mount } from 'svelte';
import './styles/base.css';
import App from './app/App.svelte';
import { openApi } from './lib/api.ts';

const target = document.getElementById('app');
if (target === null) throw new Error('index.html has no #app');

if (window.tokendesk === undefined)
  target.textContent = 'Tokendesk runs in its own window. Start it with npm start.';
else mount(App, { target, props: { api: openApi(window.tokendesk) } });
