/** Readers paste what they see: the code of one fence into a fresh file. Each must compile there. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { programs } from '../kit/program.ts'
import { root } from '../package/package.ts'
import { errorsOf, programOf, typed, untyped } from './compile.ts'
import { pages, read } from './fences.ts'
import { type Mistake, mistakes } from './mistakes.ts'

/** Where the program finds the files of the pages, below docs for its packages. Nothing is written there. */
const strangers = join(root, 'docs/.strangers')
const start = programs()

interface Block {
  readonly page: string
  readonly number: number
  readonly code: string
  /** Where a reader saves it: the file that the paragraph above names (`server.ts`:), or a fresh one. */
  readonly path: string
  /** The file of which it is a piece (From `server.ts`:): an earlier block of the page, or a linked file. */
  readonly pieceOf?: string
  /** The file of the snippet that it is. */
  readonly snippet?: string
}

const FENCE = /^```(tsx?)(?: \[[^\]]+\])?\n(.*?)^```$/gms
const FILE_NAME = /`([\w./[\]-]+\.tsx?)`/g

function blocksOf(page: string): Block[] {
  const text = read(page)
  const folder = join(strangers, page.replace(/\W/g, '-'))
  return [...text.matchAll(FENCE)].map(([, language, code], index) => {
    const number = index + 1
    const above = text.slice(0, [...text.matchAll(FENCE)][index]!.index).trimEnd()
    const paragraph = above
      .replace(/\n?<!-- snippet: \S+ -->$/, '')
      .trimEnd()
      .split(/\n\n|^```$/m)
      .at(-1)!
    const named = paragraph.endsWith(':') ? [...paragraph.matchAll(FILE_NAME)].at(-1)?.[1] : undefined
    const snippet = /<!-- snippet: ([^\s#]+)\S* -->$/.exec(above)?.[1]
    const block = { page, number, code: code!, ...(snippet !== undefined && { snippet }) }
    if (named === undefined) return { ...block, path: join(folder, `block-${number}.${language}`) }
    const path = join(folder, named)
    if (!/^From /.test(paragraph.trim())) return { ...block, path }
    const link = /\]\(([^)#]+)\):$/.exec(paragraph)?.[1]
    const linked = link?.endsWith('/README.md') ? join(dirname(link), named) : link
    return { ...block, path, pieceOf: linked === undefined ? path : join(root, dirname(page), linked) }
  })
}

const blocks = pages.flatMap(blocksOf)
const wholes = new Map(blocks.flatMap((block) => (block.pieceOf === undefined ? [[block.path, block]] : [])))
const [withTypes, withoutTypes] = [true, false].map((is) =>
  [...wholes.values()].filter(({ snippet = '' }) => typed.includes(snippet) === is),
) as [Block[], Block[]]
const found = new Map<Block | Mistake, readonly string[]>()

beforeAll(() => {
  for (const block of blocks) if (block.pieceOf !== undefined) found.set(block, errorsOfPiece(block))
  const compile = (files: readonly (Block | Mistake)[], declared?: string[]) => {
    const program = programOf(new Map(files.map(({ path, code }) => [path, code])), declared)
    for (const file of files) found.set(file, errorsOf(program, file.path))
  }
  compile([...withoutTypes, ...mistakes])
  compile(withTypes, [])
}, 300_000)

test('every block of the guides compiles as a reader pastes it', () => {
  expect(
    blocks.flatMap((block) => found.get(block)!.map((error) => `${block.page} ${block.number}: ${error}`)),
  ).toEqual([])
})

/** The newest TypeScript has no API for programs, and comes with `node test/peers/run.mjs newest` only. */
const newest = join(root, 'node_modules/typescript-newest/bin/tsc')
test.skipIf(!existsSync(newest))('every whole file compiles with the newest TypeScript', async () => {
  const folder = join(root, `docs/.tmp/strangers-${process.pid}`)
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const compile = async (name: string, files: readonly Block[], declared: readonly string[]) => {
    for (const { path, code } of files) {
      const file = join(folder, name, relative(strangers, path))
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, code)
    }
    const config = {
      extends: join(root, 'tsconfig.json'),
      compilerOptions: { moduleDetection: 'force' },
      include: ['**/*', ...declared],
    }
    writeFileSync(join(folder, name, 'tsconfig.json'), JSON.stringify(config))
    const { exit, text } = start('node', [newest, '--project', join(folder, name), '--pretty', 'false'])
    expect(await exit, text()).toBe(0)
  }
  await compile('untyped', withoutTypes, [untyped])
  await compile('typed', withTypes, [])
})

test('a page that names a key or a tool of an agent wrongly does not compile', () => {
  for (const mistake of mistakes) expect(found.get(mistake)![0], mistake.what).toMatch(mistake.error)
})

test('no two blocks of a page are whole files of the same name', () => {
  const paths = blocks.filter(({ pieceOf }) => pieceOf === undefined).map(({ path }) => path)
  expect(paths.filter((path, index) => paths.indexOf(path) !== index)).toEqual([])
})

/** A piece has no errors where its lines are in the whole file, which stands above it or is linked. */
function errorsOfPiece({ page, number, code, pieceOf }: Block): string[] {
  const above = wholes.get(pieceOf!)
  if (above !== undefined && (above.page !== page || above.number > number))
    return ['The whole file stands below its piece.']
  const whole = above?.code ?? (existsSync(pieceOf!) ? read(pieceOf!.slice(root.length)) : undefined)
  if (whole === undefined) return [`There is no whole file ${pieceOf}.`]
  return trimmed(whole).includes(trimmed(code)) ? [] : ['The whole file does not have these lines.']
}

const trimmed = (code: string): string =>
  code
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^\/\/ #(region|endregion)/.test(line))
    .join('\n')
