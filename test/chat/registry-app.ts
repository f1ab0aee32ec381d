/**
 * Adds each entry of the registry to a new Vite app with shadcn's CLI, then checks the types of the app and builds it:
 * `npx tsx test/chat/registry-app.ts`, or with the names of some entries. It installs the newest packages, so run it by hand.
 */
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openServer } from '../kit/listen.ts'
import { PARTS, type Part, placeOf, registryFile } from './registry.ts'

const VITE_CONFIG = `import { fileURLToPath } from 'node:url'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [react(), tailwindcss()],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
})
`
/** `tsc` reads the app's, and shadcn the other one. */
const TSCONFIGS = ['tsconfig.json', 'tsconfig.app.json']
const PATHS = { '@/*': ['./src/*'] }

/** What `shadcn init` writes. */
const COMPONENTS = {
  style: 'new-york',
  rsc: false,
  tsx: true,
  tailwind: { config: '', css: 'src/index.css', baseColor: 'neutral', cssVariables: true },
  iconLibrary: 'lucide',
  aliases: { components: '@/components', utils: '@/lib/utils', ui: '@/components/ui', lib: '@/lib' },
}

/** The base color, which shadcn asks its own registry for. The CLI is to work without that one. */
const COLORS = {
  inlineColors: { light: {}, dark: {} },
  cssVars: { light: {}, dark: {} },
  inlineColorsTemplate: '',
  cssVarsTemplate: '',
}

const execute = promisify(execFile)

async function run(...args: Parameters<typeof execute>): Promise<void> {
  await execute(...args).catch((error) => {
    // `tsc` says what is wrong where others say what they do.
    throw new Error(`${error.message}\n${error.stdout}`)
  })
}

const names = process.argv.slice(2)

async function main(): Promise<void> {
  const registry = await openServer(
    createServer(({ url = '' }, response) => {
      const part = PARTS.find(({ name }) => url === `/${name}.json`)
      response.end(part ? readFileSync(registryFile(part.name)) : JSON.stringify(COLORS))
    }),
  )
  const folder = mkdtempSync(join(tmpdir(), 'agentwire-registry-'))
  try {
    await makeApp(folder, 'base')
    for (const part of PARTS.filter(({ name }) => names.length === 0 || names.includes(name))) {
      const app = join(folder, part.name)
      cpSync(join(folder, 'base'), app, { recursive: true })
      await addTo(app, part, registry.origin)
      console.log(`${part.name}: added, checked and built`)
      rmSync(app, { recursive: true })
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
    await registry.close()
  }
}

/** A Vite app with React, Tailwind and the settings of shadcn. */
async function makeApp(folder: string, name: string): Promise<void> {
  const template = ['--template', 'react-ts', '--no-interactive', '--no-immediate']
  await run('npx', ['--yes', 'create-vite@latest', name, ...template], { cwd: folder })
  const app = join(folder, name)
  writeFileSync(join(app, 'vite.config.ts'), VITE_CONFIG)
  writeFileSync(join(app, 'components.json'), JSON.stringify(COMPONENTS))
  writeFileSync(join(app, 'src/index.css'), '@import "tailwindcss";\n')
  for (const file of TSCONFIGS) addPaths(join(app, file))
  await run('npm', ['install', '--no-audit', '--no-fund', 'tailwindcss', '@tailwindcss/vite'], { cwd: app })
}

/** The template's settings have comments, so they are not parsed. */
function addPaths(file: string): void {
  const text = readFileSync(file, 'utf8')
  const paths = `"paths": ${JSON.stringify(PATHS)}`
  writeFileSync(
    file,
    text.includes('"compilerOptions": {')
      ? text.replace('"compilerOptions": {', `"compilerOptions": { ${paths},`)
      : text.replace('{', `{ "compilerOptions": { ${paths} },`),
  )
}

async function addTo(app: string, { name, entry }: Part, registry: string): Promise<void> {
  const env = { ...process.env, REGISTRY_URL: registry }
  await run('npx', ['--yes', 'shadcn@latest', 'add', '--yes', `${registry}/${name}.json`], { cwd: app, env })
  const path = `@/components/agentwire/${placeOf(entry).replace(/\.tsx?$/, '')}`
  writeFileSync(
    join(app, 'src/App.tsx'),
    `import * as part from '${path}'\n\nexport default () => <p>{Object.keys(part).join(', ')}</p>\n`,
  )
  await run('npx', ['tsc', '-b'], { cwd: app })
  await run('npx', ['vite', 'build'], { cwd: app })
}

await main()
