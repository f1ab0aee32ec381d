import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

export const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** The pages whose code may come from files: the README, the guides and the skill. */
export const pages: readonly string[] = [
  'README.md',
  'skills/agentwire/SKILL.md',
  'docs/site/index.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]

/** A fence of code with the mark above it, if it has one. The title is that of its tab. */
const FENCE = /^(?:<!-- snippet: (\S+) -->\n)?```(\w+(?: \[[^\]]+\])?)\n(.*?)^```$/gms

/** The page with the code that its marks name in its fences. */
export const filled = (page: string): string =>
  page.replace(FENCE, (fence, mark: string | undefined, info: string) =>
    mark === undefined ? fence : `<!-- snippet: ${mark} -->\n\`\`\`${info}\n${snippet(mark)}\`\`\``,
  )

/** The first lines of the fences of TypeScript without a mark. */
export const unmarked = (page: string): string[] =>
  [...page.matchAll(FENCE)]
    .filter(([, mark, info]) => mark === undefined && /^tsx?\b/.test(info!))
    .map(([, , , code]) => code!.split('\n')[0]!)

/** The marks that stand above no fence, so that a page has no code for them. */
export const withoutFence = (page: string): string[] =>
  [...page.matchAll(/^<!-- snippet: (\S+) -->\n(?!```)/gm)].map(([, mark]) => mark!)

/** The code that a mark names, `docs/snippets/users.ts#authenticate`: a region of a file, or without `#` the whole file. */
function snippet(mark: string): string {
  const [path, region] = mark.split('#') as [string, string?]
  const lines = read(path).trimEnd().split('\n')
  const shown = region === undefined ? lines : regionOf(lines, region, mark)
  return `${dedented(shown.filter((line) => !isStart(line) && !isEnd(line))).join('\n')}\n`
}

function regionOf(lines: readonly string[], name: string, mark: string): readonly string[] {
  const start = lines.findIndex((line) => line.trim() === `// #region ${name}`)
  if (start < 0) throw new Error(`There is no region for the mark ${mark}.`)
  let depth = 1
  const length = lines.slice(start + 1).findIndex((line) => {
    if (isStart(line)) depth++
    if (isEnd(line)) depth--
    return depth === 0
  })
  if (length < 0) throw new Error(`The region of the mark ${mark} has no end.`)
  return lines.slice(start + 1, start + 1 + length)
}

const isStart = (line: string): boolean => /^\s*\/\/ #region /.test(line)
const isEnd = (line: string): boolean => /^\s*\/\/ #endregion/.test(line)

function dedented(lines: readonly string[]): string[] {
  const indents = lines.filter((line) => line.trim() !== '').map((line) => /^ */.exec(line)![0].length)
  return lines.map((line) => line.slice(Math.min(...indents)))
}
