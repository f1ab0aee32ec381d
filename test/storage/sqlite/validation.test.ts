import { sqliteStorage } from '../../../src/storage/sqlite/sqlite.ts'
import { validateStorage } from '../suites.ts'
import { temporaryFiles } from './file.ts'

const file = temporaryFiles()
await validateStorage('sqliteStorage', () => sqliteStorage({ url: file() }))
