import { sqliteStorage } from 'agentwire/sqlite'

export const openStorage = () => sqliteStorage({ url: process.env.STORAGE_URL ?? 'file:agents.db' })
