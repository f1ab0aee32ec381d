import { redisStorage } from 'agentwire/redis'

export const openStorage = () => redisStorage({ url: process.env.STORAGE_URL ?? 'redis://127.0.0.1:6379' })
