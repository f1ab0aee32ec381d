/**
 * Parts of the chat as entries of a shadcn registry: `npx tsx test/chat/registry.ts` writes them to docs/public/r. Each has all files of the
 * chat that it needs, below `components/agentwire`, the packages that they import, and the colours.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { APP, ROOT } from '../../examples/chat/demo/build.ts'

export const FOLDER = join(ROOT, 'docs/public/r')
const TARGET = 'components/agentwire'

export interface Part {
  readonly name: string
  readonly title: string
  readonly description: string
  /** The file that has what others import. */
  readonly entry: string
}

export const PARTS: readonly Part[] = [
  {
    name: 'markdown',
    title: 'Markdown',
    description:
      'Streaming Markdown as React elements, with highlighted code. No HTML of the text reaches the page.',
    entry: 'components/markdown/markdown.tsx',
  },
  {
    name: 'approvals',
    title: 'Approvals',
    description: 'Cards that approve, edit or reject tool calls, and answer questions.',
    entry: 'components/approvals/questions.tsx',
  },
  {
    name: 'tool-call',
    title: 'Tool call',
    description: 'A tool call with its state, arguments and result.',
    entry: 'components/tools/tool-call.tsx',
  },
  {
    name: 'reasoning',
    title: 'Reasoning',
    description: 'What a model thought, folded, and for how long.',
    entry: 'components/tools/reasoning.tsx',
  },
  {
    name: 'attachments',
    title: 'Attachments',
    description: 'The images and files of a message.',
    entry: 'components/attachments/media-view.tsx',
  },
  {
    name: 'menu',
    title: 'Menu',
    description: 'A button with a menu, with the keyboard and 44 px targets on touch screens.',
    entry: 'components/ui/menu.tsx',
  },
  {
    name: 'stick-to-bottom',
    title: 'Stick to bottom',
    description: 'A hook that keeps the end of a conversation in view, and the position of each thread.',
    entry: 'lib/use-stick-to-bottom.ts',
  },
]

export interface RegistryItem {
  readonly $schema: string
  readonly name: string
  readonly type: 'registry:component'
  readonly title: string
  readonly description: string
  readonly dependencies: readonly string[]
  readonly files: readonly {
    readonly path: string
    readonly type: 'registry:file'
    readonly target: string
    readonly content: string
  }[]
  readonly cssVars: Readonly<Record<'theme' | 'light' | 'dark', Readonly<Record<string, string>>>>
}

const IMPORT = /(?<=(?:\bfrom |\bimport |\bimport\())'([^']+)'/g

const read = (path: string): string => readFileSync(join(APP, path), 'utf8')
const importsOf = (path: string): readonly string[] =>
  [...read(path).matchAll(IMPORT)].map(([, specifier]) => specifier!)

/** A file and all files of the chat that it imports, in the order of their names. */
function filesOf(entry: string): readonly string[] {
  const found = new Set([entry])
  // A set gives what is added to it while it is read.
  for (const path of found)
    for (const specifier of importsOf(path))
      if (specifier.startsWith('.')) found.add(relative(APP, join(APP, dirname(path), specifier)))
  return [...found].sort()
}

/** The packages that files import, with the versions of the chat. */
function packagesOf(files: readonly string[]): readonly string[] {
  const { dependencies } = JSON.parse(read('package.json')) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  const names = files
    .flatMap(importsOf)
    .filter((specifier) => !specifier.startsWith('.'))
    .map((specifier) => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/'))
    .filter((name) => !['react', 'react-dom', 'next'].includes(name))
  return [...new Set(names)].sort().map((name) => `${name}@${dependencies[name]}`)
}

/** The custom properties of a rule of the chat's style sheet. */
function propertiesOf(rule: string): Readonly<Record<string, string>> {
  const css = read('app/globals.css')
  const from = css.indexOf(`${rule} {`)
  const body = css.slice(from, css.indexOf('}', from))
  return Object.fromEntries(
    [...body.matchAll(/--([\w-]+): ([^;]+);/g)]
      .map(([, name, value]) => [name!, value!] as const)
      // The typeface is an app's own.
      .filter(([name]) => !name.startsWith('font-')),
  )
}

/** Where a file of the chat is below the target: the folder `components` is left out, because the target is in one. */
export const placeOf = (path: string): string => path.replace(/^components\//, '')

/** The source with imports that fit its new place. Not every project lets its imports name the endings of files. */
const movedSource = (path: string): string =>
  read(path).replace(IMPORT, (whole, specifier: string) => {
    if (!specifier.startsWith('.')) return whole
    const moved = relative(dirname(placeOf(path)), placeOf(join(dirname(path), specifier)))
    return `'${moved.startsWith('.') ? '' : './'}${moved.replace(/\.tsx?$/, '')}'`
  })

export function registryItems(): readonly RegistryItem[] {
  const cssVars = {
    theme: propertiesOf('@theme inline'),
    light: propertiesOf(':root'),
    dark: propertiesOf('.dark'),
  }
  return PARTS.map(({ name, title, description, entry }) => {
    const files = filesOf(entry)
    return {
      $schema: 'https://ui.shadcn.com/schema/registry-item.json',
      name,
      type: 'registry:component',
      title,
      description,
      dependencies: packagesOf(files),
      files: files.map((path) => ({
        path,
        type: 'registry:file',
        target: `${TARGET}/${placeOf(path)}`,
        // Server components may import the part as it is.
        content: (path === entry ? "'use client'\n\n" : '') + movedSource(path),
      })),
      cssVars,
    }
  })
}

export const registryFile = (name: string): string => join(FOLDER, `${name}.json`)

export const asText = (item: RegistryItem): string => `${JSON.stringify(item, null, 2)}\n`

function main(): void {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  for (const item of registryItems()) writeFileSync(registryFile(item.name), asText(item))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
