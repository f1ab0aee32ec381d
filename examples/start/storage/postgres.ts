import { postgresStorage } from 'agentwire/postgres'

export const openStorage = () =>
  postgresStorage({ url: process.env.STORAGE_URL ?? 'postgres://127.0.0.1:5432/agents' })
