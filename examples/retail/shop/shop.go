// Package shop plays the systems of a shop: its user and order databases, its catalogue and its identity service.
package shop

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
)

// Shop is the databases as they are before any conversation. Read only, and so safe for concurrent use.
type Shop struct {
	users    map[string]User
	orders   map[string]Order
	products map[string]Product
	variants map[string]string // option to product
	emails   map[string]string // to user
	names    map[string]string // name and zip to user
}

// Load reads the databases from db/retail_users.json, retail_orders.json and retail_products.json.
func Load(fsys fs.FS) (*Shop, error) {
	s := &Shop{variants: map[string]string{}, emails: map[string]string{}, names: map[string]string{}}
	for name, into := range map[string]any{"users": &s.users, "orders": &s.orders, "products": &s.products} {
		raw, err := fs.ReadFile(fsys, "db/retail_"+name+".json")
		if err == nil {
			err = json.Unmarshal(raw, into)
		}
		if err != nil {
			return nil, fmt.Errorf("the shop's %s: %w", name, err)
		}
	}
	for id, p := range s.products {
		for variant := range p.Variants {
			s.variants[variant] = id
		}
	}
	for id, u := range s.users {
		s.emails[strings.ToLower(u.Email)] = id
		s.names[nameKey(u.Name.First, u.Name.Last, u.Address.Zip)] = id
	}
	return s, nil
}

func nameKey(first, last, zip string) string {
	return strings.ToLower(first) + "/" + strings.ToLower(last) + "/" + zip
}

// Email is the address that a user is known by; for tests that sign somebody in.
func (s *Shop) Email(user string) string { return s.users[user].Email }
