import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../package/package.ts'

/** The folders that have tests of their own, because they are more than a server and a client. */
const OTHERS = ['chat', 'deployed', 'next', 'offline', 'start', 'tracing']

const folder = join(root, 'examples')

export const names: readonly string[] = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !OTHERS.includes(entry.name))
  .map(({ name }) => name)

export const pathOf = (name: string, file: string): string => join(folder, name, file)

export const read = (name: string, file: string): string => readFileSync(pathOf(name, file), 'utf8')
