// Makes the page as one file with style, script and module inside:
//     node build.mjs NPM SOURCES MODULE PAGE STAMP
// It runs in a folder of its own with package.json and package-lock.json. If npm cannot install the
// packages, it prints a line and leaves the page out, and the rest of the build goes on. The stamp is
// written only with the page, so that the next build tries again.

import {spawnSync} from 'node:child_process';
import {existsSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {createRequire} from 'node:module';
import {fileURLToPath} from 'node:url';

const [npm, sources, wasm, page, stamp] = process.argv.slice(2);
const here = path.dirname(fileURLToPath(import.meta.url));
const lock = readFileSync(path.join(here, 'package-lock.json'), 'utf8');
const installed = path.join(here, 'node_modules', '.bloomset-lock');

if (!existsSync(installed) || readFileSync(installed, 'utf8') !== lock) {
  const done = spawnSync(npm, ['ci', '--ignore-scripts', '--no-audit', '--no-fund',
    '--fetch-retries=1', '--fetch-timeout=30000'], {cwd: here, encoding: 'utf8'});
  if (done.status !== 0) {
    const why = done.stderr.split('\n').find((line) => line.includes('code')) ?? '';
    console.log(`No explorer page: npm cannot install its packages ${why}`.trim());
    for (const made of [page, stamp]) rmSync(made, {force: true});
    process.exit(0);
  }
  writeFileSync(installed, lock);
}

const esbuild = createRequire(import.meta.url)('esbuild');
const shared = {
  bundle: true, minify: true, write: false, target: ['chrome109', 'firefox115', 'safari16'],
  nodePaths: [path.join(here, 'node_modules')], legalComments: 'inline', logLevel: 'warning',
};
const script = await esbuild.build({
  ...shared, entryPoints: [path.join(sources, 'main.js')], format: 'iife', charset: 'utf8',
  alias: {'bloomset.wasm': wasm}, loader: {'.wasm': 'binary'}, platform: 'browser',
});
const style = await esbuild.build({
  ...shared, entryPoints: [path.join(sources, 'style.css')], charset: 'utf8',
});
// A closing tag inside a string of the script would end the script for the browser.
const text = script.outputFiles[0].text.replaceAll('</script', '<\\/script');
const whole = readFileSync(path.join(sources, 'page.html'), 'utf8')
  .replace('<!-- style -->', () => `<style>${style.outputFiles[0].text}</style>`)
  .replace('<!-- script -->', () => `<script>${text}</script>`);
writeFileSync(page, whole);
writeFileSync(stamp, '');
