import { join } from 'node:path'
import { root } from '../package/package.ts'
import { read } from './fences.ts'

const page = read('docs/snippets/typed/page.tsx')
const hooks = read('docs/snippets/typed/hooks.tsx')
const client = read('docs/snippets/typed/client.ts')

/** A code of `docs/typed-clients.md` that names something of an agent wrongly. */
export interface Mistake {
  readonly what: string
  readonly path: string
  readonly code: string
  /** The first error of the compiler. */
  readonly error: RegExp
}

/** What is wrong, the code with it, and what the compiler says to it. */
const MISTAKES: readonly (readonly [string, string, string, string, RegExp])[] = [
  ['a key of an agent', page, 'values.budget', 'values.bugdet', /'bugdet' does not exist.*'budget'/],
  [
    'the type of a key',
    page,
    'values.budget?.toFixed',
    'values.budget?.trim',
    /'trim' does not exist on type 'number'/,
  ],
  ['the name of a tool', page, "'book_hotel'", "'book_hotels'", /no overlap/],
  ['an argument of a tool', page, 'call.args.nights', 'call.args.night', /'night' does not exist/],
  ['a key of a graph', page, 'values.city', 'values.town', /'town' does not exist/],
  ['a key of a function', page, 'values.items', 'values.item', /'item' does not exist.*'items'/],
  [
    'a key with the hooks of agentwire/react',
    hooks,
    'values.budget',
    'values.bugdet',
    /'bugdet' does not exist/,
  ],
  ['a key with the SDK', client, 'values.items', 'values.item', /'item' does not exist/],
]

export const mistakes: readonly Mistake[] = MISTAKES.map(([what, code, right, wrong, error]) => {
  if (code.split(right).length !== 2) throw new Error(`The page has ${right} not once.`)
  const path = join(root, 'docs/snippets/typed', `${what.replace(/\W/g, '-')}.tsx`)
  return { what, path, code: code.replace(right, wrong), error }
})
