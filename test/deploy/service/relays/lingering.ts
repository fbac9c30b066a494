import { copyOf } from './orders.ts'

export default copyOf('orders', 'lingering')
