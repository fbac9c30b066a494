import { copyOf } from './orders.ts'

export default copyOf('orders-v1', 'dashed')
