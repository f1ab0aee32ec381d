/** `node next.mjs dev` is `next dev` at the HOST and PORT of `.env`, which Next reads too late for its own address. */
import { existsSync, readFileSync } from 'node:fs'
import { argv, env } from 'node:process'
import { parseEnv } from 'node:util'

const file = existsSync('.env') ? parseEnv(readFileSync('.env', 'utf8')) : {}
const { HOST = '127.0.0.1', PORT = '3000' } = { ...file, ...env }
argv.push('-H', HOST, '-p', PORT)
await import('next/dist/bin/next')
